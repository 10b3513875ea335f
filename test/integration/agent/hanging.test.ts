import { expect, it } from 'vitest';
import { AT_WORK_MS } from '../../../src/agent/scheduler/permits/wait-detector.ts';
import { checkSetOf, startDaemon } from '../../support/agent/daemon-fixture.ts';
import { metricsText } from '../../support/agent/metrics-text.ts';
import { eventually } from '../../support/eventually.ts';
import { checkOf } from '../../support/samples/checks.ts';
import { rawServer } from '../../support/servers/http-servers.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

it('an agent with more hanging targets than its limit misses slots, and logs what would help', async () => {
  const silent = await rawServer(() => {});
  const { clock, daemon, listener, logRecords, metrics, missed, request } = await startDaemon({
    env: { JOB_CONCURRENCY: '1' },
    waiting: { runs: 1, remedy: 'give it more memory' },
  });
  const hanging = ['a', 'b'].map((id) =>
    checkOf('URL', { id, frequency: 1, frequencyOffset: 10, request: { url: silent.url() } }),
  );
  listener.onChecks(checkSetOf(hanging));
  await clock.advance(MINUTE);
  await eventually(() => silent.open === 1);
  await clock.advance(AT_WORK_MS);
  await eventually(() => silent.open === 2);
  await clock.advance(AT_WORK_MS);
  expect(daemon.status).toMatchObject({ running: 1, waiting: 1, queued: 0 });
  const text = await metricsText(metrics);
  expect(text).toContain('\nvedette_waiting 1\n');
  expect(text).toContain('\nvedette_waiting_limit 1\n');

  const often = checkOf('TCP', { id: 'often', frequency: 0, frequencyOffset: 10, request });
  listener.onChecks(checkSetOf([...hanging, often]));
  await clock.advance(20 * SECOND);
  expect(new Set(missed.map(({ checkId, reason }) => `${checkId} ${reason}`))).toEqual(
    new Set(['often agent_busy']),
  );
  const said = logRecords().filter(({ waiting }) => waiting !== undefined);
  expect(said).toMatchObject([
    {
      level: 'warn',
      waiting: 1,
      msg: 'slots are missed (agent_busy): 1 run waits for its target, the maximum: give it more memory',
    },
  ]);
});

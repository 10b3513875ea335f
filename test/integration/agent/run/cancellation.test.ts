import { expect, it } from 'vitest';
import { RUN_CANCELLED } from '../../../../src/agent/run/cancellation.ts';
import { resultIdOf } from '../../../../src/model/ids.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

it('a run that is cancelled between two attempts has a FINAL result instead of the next attempt', async () => {
  const closed = await listenTcp(() => {});
  await closed.close();
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const retryStrategy = { type: 'FIXED', baseBackoffSeconds: 60, maxRetries: 2 } as const;
  const check = checkOf('TCP', { request: { port: closed.port }, retryStrategy });
  const stop = new AbortController();
  const ended = fixture.run(check, stop.signal, { sequenceId: 'run-1' });
  await fixture.resultCount(1);
  await eventually(() => clock.pendingTimers === 1);
  stop.abort(RUN_CANCELLED);
  await ended;
  expect(clock.pendingTimers).toBe(0);
  expect(fixture.results).toMatchObject([
    { resultType: 'ATTEMPT', hasFailures: true, isCancelled: false, attempts: 0 },
    {
      resultType: 'FINAL',
      id: resultIdOf('run-1', 2),
      attempts: 1,
      hasFailures: false,
      isCancelled: true,
      tcpCheckResult: { requestErrorCode: 'CANCELLED' },
    },
  ]);
  expect(fixture.missed).toEqual([]);
});

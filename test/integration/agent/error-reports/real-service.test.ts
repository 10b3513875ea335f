import { expect, it } from 'vitest';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { errorsOfKinds, reportsFixture } from '../../../support/agent/reports-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { useArtifactServer, useParties } from '../../../support/service/artifact-service.ts';

const service = useParties(useArtifactServer('pglite'));

it('the service takes what an agent reports, and lists it at the location', async () => {
  const { mine, app, store } = service();
  await store.query(
    `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency)
     values ($1, $2, 'agent-1', '1', 'i', '{}', 1)`,
    [mine.accountId, mine.locationId],
  );
  const { start } = await reportsFixture();
  const { clock, reports, run, due, records } = start({
    serviceUrl: new URL(`http://127.0.0.1:${app.port}`),
    key: mine.agentKey,
  });
  reports.recordCrash(new VedetteError('internal', 'SCHEDULER_LOST', 'of https://a.example.com'));
  reports.note('no error at all');
  for (const error of errorsOfKinds(98)) reports.note(error);
  run();
  for (const pauseMs of [5_000, 60_000]) {
    await due();
    const logged = records().length;
    await clock.advance(pauseMs);
    await eventually(() => records().length > logged);
  }
  const { json } = await mine.ask(
    `/v1/private-locations/${mine.locationId}/agent-errors?limit=100`,
  );
  expect(json).toHaveLength(100);
  const listed = JSON.stringify(json);
  expect(listed.includes('"SCHEDULER_LOST"')).toBe(true);
  expect(listed.includes('example')).toBe(false);
  expect(json).toContainEqual(
    expect.objectContaining({
      agentId: 'agent-1',
      class: 'RangeError',
      stack: [{ function: 'run', file: 'src/agent/daemon.ts', line: 98, column: 1 }],
      count: 1,
    }),
  );
});

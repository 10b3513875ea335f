import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createAssigner } from '../../../src/service/agents/assignment/assigner.ts';
import { createLocationWake } from '../../../src/service/agents/assignment/location-wake.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { silentLog, storeConfig, useMigrated } from '../../support/database/databases.ts';
import { startPostgres, type TestPostgres } from '../../support/database/postgres.ts';
import { captureLog } from '../../support/log-capture.ts';
import { useAgentFixture } from '../../support/service/agent-fixture.ts';

const MINUTE_MS = 60_000;

describe('agents while the database goes away and comes back', () => {
  let server: TestPostgres | null = null;
  let store: Store | null = null;
  const storeOf = (): Store => {
    if (store === null) throw new Error('the store is for tests: it opens before the first');
    return store;
  };
  beforeAll(async () => {
    server = await startPostgres();
    const databaseUrl = await server.createDatabase();
    store = await openStore(storeConfig({ databaseUrl }), { clock: systemClock, log: silentLog() });
  });
  afterAll(async () => {
    await store?.close();
    await server?.remove();
  });
  useMigrated(storeOf);
  const fixtureOf = useAgentFixture(storeOf);

  it('all waiting polls query again after the database returns, since notifications may be missing', async () => {
    const wake = await createLocationWake(storeOf(), systemClock);
    const woken = Promise.all([
      wake.wait('one', MINUTE_MS, new AbortController().signal),
      wake.wait('another', MINUTE_MS, new AbortController().signal),
    ]);
    await storeOf().query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    const startMs = systemClock.monotonicMs();
    await woken;
    expect(systemClock.monotonicMs() - startMs).toBeLessThan(MINUTE_MS / 2);
    await wake.close();
  });

  it('checks are assigned again after the database returns, and one line was logged', async () => {
    const fixture = fixtureOf();
    const { log, records } = captureLog();
    const assigner = createAssigner({ store: storeOf(), clock: systemClock, log });
    const stop = new AbortController();
    await fixture.addChecks('check', 10);
    const running = assigner.run(stop.signal);
    const a = fixture.agent('agent-a');
    await a.poll();
    expect(a.ids).toHaveLength(10);
    await server?.stop('immediate');
    await expect(a.look()).rejects.toMatchObject({ kind: 'unavailable' });
    await server?.start();
    await fixture.addCheck('after');
    const polled = await a.poll();
    expect(polled.upsert.map(({ checkId }) => checkId)).toEqual(['after']);
    stop.abort();
    await running;
    expect(records().length).toBeLessThanOrEqual(1);
  });
});

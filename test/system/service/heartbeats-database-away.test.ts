import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { unlimited } from '../../../src/service/accounts/allowance.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { createHeartbeatFeatures } from '../../../src/service/heartbeats/create-feature.ts';
import { silentLog, storeConfig } from '../../support/database/databases.ts';
import { startPostgres, type TestPostgres } from '../../support/database/postgres.ts';
import { settle } from '../../support/fake-clock.ts';
import { NO_ALERTS } from '../../support/service/heartbeats-fixture.ts';

const ACCOUNT = 'mine';
const SENDER = { source: 'test', userAgent: '' };

describe('heartbeats while the database is restarted', () => {
  let server: TestPostgres | null = null;
  let opened: Store | null = null;
  const store = (): Store => {
    if (opened === null) throw new Error('the store is for tests: it opens before the first');
    return opened;
  };
  const replica = () =>
    createHeartbeatFeatures({
      store: store(),
      clock: systemClock,
      log: silentLog(),
      ids: randomUUID,
      retentionDays: 30,
      rollUpRetentionDays: 400,
      allowance: unlimited,
      alerts: NO_ALERTS,
    });
  beforeAll(async () => {
    server = await startPostgres();
    const config = storeConfig({ databaseUrl: await server.createDatabase() });
    opened = await openStore(config, { clock: systemClock, log: silentLog() });
    await migrate(opened, silentLog());
    await insertAccount(opened, { id: ACCOUNT, name: 'mine', createdAtMs: systemClock.wallMs() });
  });
  afterAll(async () => {
    await opened?.close();
    await server?.remove();
  });

  it('heartbeats accept pings while the database restarts', async () => {
    const { heartbeats, heartbeatEvents, heartbeatPings } = replica();
    const rhythm = { period: 1, periodUnit: 'DAYS', grace: 0, graceUnit: 'SECONDS' };
    const { check, heartbeat } = await heartbeats.create(
      ACCOUNT,
      { name: 'Backup', heartbeat: rhythm },
      { autoAssignAlerts: true },
    );
    await server?.stop('immediate');
    let isAnswered = false;
    const pinged = heartbeatPings.ping(heartbeat?.pingToken ?? '', SENDER).finally(() => {
      isAnswered = true;
    });
    await expect(store().query('select 1')).rejects.toMatchObject({ kind: 'unavailable' });
    for (let turn = 0; turn < 10; turn += 1) await settle();
    expect(isAnswered).toBe(false);
    await server?.start();
    expect(await pinged).toBe('RECEIVED');
    const page = { limit: 10, page: 1, fromMs: null, toMs: null };
    expect(await heartbeatEvents.list(ACCOUNT, check.id, page)).toHaveLength(1);
  });
});

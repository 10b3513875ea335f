import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/runtime/clock.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { openPglite } from '../../../src/service/database/pglite/pglite.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { silentLog, storeConfig } from '../../support/database/silent-store.ts';
import { testFeatures } from '../../support/service/service-features.ts';
import type { BenchDatabase } from './bench-database.ts';

/** An account with a private location, `here`, that runs all of its checks. */
export interface Resources {
  readonly accountId: string;
  readonly locationId: string;
  /** The key of the agents. */
  readonly locationKey: string;
  /** The key of an admin. */
  readonly apiKey: string;
}

const STATEMENT_TIMEOUT_MS = 120_000;

export async function withStore<Result>(
  { config }: BenchDatabase,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const deps = { clock: systemClock, log: silentLog() };
  // What runs a part loads it and is gone by now, so nothing can be imported late, as openStore does.
  const store =
    config.databaseUrl === null
      ? await openPglite(config.dataDir, deps)
      : await openStore(storeConfig({ ...config, statementTimeoutMs: STATEMENT_TIMEOUT_MS }), deps);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Creates the schema, and the account with `checks` API checks: `check-0`, `check-1` and so on. */
export async function createResources(database: BenchDatabase, checks: number): Promise<Resources> {
  return await withStore(database, async (store) => {
    await migrate(store, silentLog());
    const { features, close } = await testFeatures(store, systemClock);
    try {
      const accountId = randomUUID();
      await insertAccount(store, { id: accountId, name: 'bench', createdAtMs: Date.now() });
      const location = await features.privateLocations.create(accountId, {
        slug: 'here',
        name: 'Here',
      });
      const { key: locationKey } = await features.locationKeys.create(accountId, location.id);
      const { key: apiKey } = await features.apiKeys.create(accountId, {
        name: 'bench',
        role: 'admin',
      });
      const request = { url: 'https://orders.test/health' };
      const body = { checkType: 'API', name: 'Orders', request, privateLocations: ['here'] };
      await features.checks.put({ accountId, id: 'check-0' }, body, { autoAssignAlerts: true });
      await store.query('alter table checks disable trigger checks_changed');
      await store.query(
        `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
         select account_id, 'check-' || n, check_type, name, activated, muted, frequency, body
         from checks, generate_series(1, $2::int - 1) n where account_id = $1 and id = 'check-0'`,
        [accountId, checks],
      );
      await store.query('alter table checks enable trigger checks_changed');
      // The triggers would have recorded this, one check at a time.
      await store.query('insert into location_changes (location_id) values ($1)', [location.id]);
      // In a real service, autovacuum would have done this before an account has so many checks.
      await store.query('analyze checks');
      return { accountId, locationId: location.id, locationKey, apiKey };
    } finally {
      await close();
    }
  });
}

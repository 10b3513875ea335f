import { cpSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { migrate } from '../../src/service/store/migrate.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import type { Store } from '../../src/service/store/port.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';
import { silentLog, storeConfig } from './silent-store.ts';
import { makeTempFolder } from './temp-folder.ts';

export type DatabaseKind = Store['kind'];

export { silentLog, storeConfig };

/** One server for all of a test file that asks for it. */
let shared: TestPostgres | null = null;

export async function sharedPostgres(): Promise<TestPostgres> {
  shared ??= await startPostgres();
  return shared;
}

export async function removeSharedPostgres(): Promise<void> {
  const server = shared;
  shared = null;
  await server?.remove();
}

/** An empty database: close it, and for `postgres` call removeSharedPostgres at the file's end. */
export async function openTestStore(
  kind: DatabaseKind,
  clock: Clock = systemClock,
): Promise<Store> {
  if (kind === 'pglite') return openEmptyPglite(clock);
  const databaseUrl = await (await sharedPostgres()).createDatabase();
  return openStore(storeConfig({ databaseUrl }), { clock, log: silentLog() });
}

/** A copy of the one that was made before the tests; it goes when it is closed. */
async function openEmptyPglite(clock: Clock): Promise<Store> {
  const folder = makeTempFolder();
  cpSync(inject('emptyPglite'), folder.path, { recursive: true });
  const config = storeConfig({ dataDir: folder.path });
  const store = await openStore(config, { clock, log: silentLog() });
  const close = store.close.bind(store);
  return Object.assign(store, {
    async close() {
      await close();
      folder.remove();
    },
  });
}

/**
 * At the top of a test file or of a describe block: one empty database for all of it.
 * @returns gives the store, from inside of a test or a hook
 */
export function useEmptyStore(kind: DatabaseKind): () => Store {
  let store: Store | null = null;
  beforeAll(async () => {
    store = await openTestStore(kind);
  });
  afterAll(async () => {
    await store?.close();
    await removeSharedPostgres();
  });
  return () => {
    if (store === null) throw new Error('the store is for tests: it opens before the first');
    return store;
  };
}

/** Within a describe block: the schema of this release, emptied before each test. */
export function useMigrated(store: () => Store): void {
  beforeAll(async () => {
    await emptySchema(store());
    await migrate(store(), silentLog());
  });
  beforeEach(async () => {
    await store().query('truncate accounts, check_results, missed_slots, check_statuses cascade');
  });
}

/** Back to a database in which nothing was made yet. */
export async function emptySchema(store: Store): Promise<void> {
  await store.query('drop schema public cascade');
  await store.query('create schema public');
}

import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger, type Logger } from '../../src/runtime/logger.ts';
import { migrate } from '../../src/service/store/migrate.ts';
import { openStore, type StoreConfig } from '../../src/service/store/open-store.ts';
import type { Store } from '../../src/service/store/port.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';

export type DatabaseKind = Store['kind'];

/** A log that goes nowhere. */
export function silentLog(): Logger {
  const destination = new PassThrough();
  destination.resume();
  return createLogger({ level: 'error', destination, format: 'json' });
}

export function storeConfig(part: Partial<StoreConfig> = {}): StoreConfig {
  return {
    databaseUrl: null,
    dataDir: null,
    poolSize: 5,
    statementTimeoutMs: 10_000,
    ...part,
  };
}

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
export async function openTestStore(kind: DatabaseKind, clock = systemClock): Promise<Store> {
  const databaseUrl = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
  return openStore(storeConfig({ databaseUrl }), { clock, log: silentLog() });
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

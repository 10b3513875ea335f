import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/port.ts';
import type { PostgresTemplate } from './prepare-postgres.ts';
import { silentLog, storeConfig } from './silent-store.ts';
import { emptySchema, openEmptyPglite, openMigratedPglite } from './worker-pglite.ts';

export type DatabaseKind = Store['kind'];

declare module 'vitest' {
  interface ProvidedContext {
    databases: readonly DatabaseKind[];
  }
}

/** What a suite for both databases runs on in the project that runs it: for `describe.each`. */
export const databases = inject('databases');

export { emptySchema, silentLog, storeConfig };

/** An empty database: close it. */
export async function openTestStore(
  kind: DatabaseKind,
  clock: Clock = systemClock,
): Promise<Store> {
  if (kind === 'pglite') return openEmptyPglite(clock);
  return openOnPostgres(await newPostgresDatabase('empty'), clock);
}

/** As openTestStore, with the schema of this release. */
export async function openMigratedStore(
  kind: DatabaseKind,
  clock: Clock = systemClock,
): Promise<Store> {
  if (kind === 'pglite') return openMigratedPglite(clock);
  return openOnPostgres(await newPostgresDatabase('migrated'), clock);
}

/** Of a database of newPostgresDatabase: close it. */
export function openOnPostgres(databaseUrl: string, clock: Clock = systemClock): Promise<Store> {
  return openStore(storeConfig({ databaseUrl }), { clock, log: silentLog() });
}

/** Makes a database on the server of this run. Returns its URL. */
export async function newPostgresDatabase(schema: 'empty' | 'migrated'): Promise<string> {
  const server = inject('postgres');
  if (server === null) throw new Error('no initdb and postgres on PATH or in /usr/lib/postgresql');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = schema === 'migrated' ? `template ${server.migrated}` : '';
  const client = new Client({ connectionString: urlOf(server, 'postgres') });
  await client.connect();
  try {
    await client.query(`create database ${name} ${template}`);
  } finally {
    await client.end();
  }
  return urlOf(server, name);
}

function urlOf({ port }: PostgresTemplate, database: string): string {
  return `postgres://test@127.0.0.1:${port}/${database}`;
}

/**
 * At the top of a test file or of a describe block: one empty database for all of it.
 * @returns gives the store, from inside of a test or a hook
 */
export function useEmptyStore(kind: DatabaseKind): () => Store {
  return useStore(() => openTestStore(kind));
}

/** As useEmptyStore, with the schema of this release; its tables are emptied before each test. */
export function useMigratedStore(kind: DatabaseKind): () => Store {
  const store = useStore(() => openMigratedStore(kind));
  useEmptyTables(store);
  return store;
}

function useStore(open: () => Promise<Store>): () => Store {
  let store: Store | null = null;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(async () => {
    await store?.close();
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
  useEmptyTables(store);
}

/** Within a describe block: no rows of another test in each. */
export function useEmptyTables(store: () => Store): void {
  beforeEach(async () => {
    // Faster than to truncate all tables that refer to them.
    for (const table of ['accounts', 'check_results', 'missed_slots', 'check_statuses']) {
      await store().query(`delete from ${table}`);
    }
  });
}

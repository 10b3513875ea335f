import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { PostgresTemplate } from './prepare-postgres.ts';
import { silentLog, storeConfig } from './silent-store.ts';
import { emptySchema, openEmptyPglite, openMigratedPglite } from './worker-pglite.ts';

export type DatabaseKind = Store['kind'];

declare module 'vitest' {
  interface ProvidedContext {
    databases: readonly DatabaseKind[];
  }
}

/** The databases of a suite in the project that runs it: for `describe.each`. */
export const databases = inject('databases');

export { emptySchema, silentLog, storeConfig };

/** Opens an empty database; the caller closes it. */
export async function openTestStore(
  kind: DatabaseKind,
  clock: Clock = systemClock,
): Promise<Store> {
  if (kind === 'pglite') return openEmptyPglite(clock);
  return openOnPostgres(await newPostgresDatabase('empty'), clock);
}

/** Like openTestStore, with the schema of this release. */
export async function openMigratedStore(
  kind: DatabaseKind,
  clock: Clock = systemClock,
): Promise<Store> {
  if (kind === 'pglite') return openMigratedPglite(clock);
  return openOnPostgres(await newPostgresDatabase('migrated'), clock);
}

/** Opens a database of newPostgresDatabase; the caller closes it. */
export function openOnPostgres(databaseUrl: string, clock: Clock = systemClock): Promise<Store> {
  return openStore(storeConfig({ databaseUrl }), { clock, log: silentLog() });
}

/** Creates a database on the server of this run. Returns its URL. */
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
 * Opens one empty database for the whole test file or describe block. @returns a function for tests
 * and hooks that returns the store
 */
export function useEmptyStore(kind: DatabaseKind): () => Store {
  return useStore(() => openTestStore(kind));
}

/** Like useEmptyStore, with the schema of this release; empties its tables before each test. */
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

/** For a describe block: the schema of this release, emptied before each test. */
export function useMigrated(store: () => Store): void {
  beforeAll(async () => {
    await emptySchema(store());
    await migrate(store(), silentLog());
  });
  useEmptyTables(store);
}

const EMPTIED = [
  'accounts',
  'check_results',
  'missed_slots',
  'check_statuses',
  'users',
  'one_time_links',
  'sign_in_failures',
];

/** For a describe block: each test starts without the rows of others. */
export function useEmptyTables(store: () => Store): void {
  beforeEach(async () => {
    // Faster than truncating all tables that refer to them.
    for (const table of EMPTIED) {
      await store().query(`delete from ${table}`);
    }
  });
}

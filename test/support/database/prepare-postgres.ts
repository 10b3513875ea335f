import type { TestProject } from 'vitest/node';
import { systemClock } from '../../../src/runtime/clock.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import { onceARun } from '../once-a-run.ts';
import { findPostgres, startPostgres, type TestPostgres } from './postgres.ts';
import { silentLog, storeConfig } from './silent-store.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Null if PostgreSQL is not installed. */
    postgres: PostgresTemplate | null;
  }
}

/** One server for all files of a run, which outlives every test. */
export interface PostgresTemplate {
  readonly port: number;
  /** Name of a database with the schema of this release. */
  readonly migrated: string;
}

/** For all workers; each open store has a pool of five. */
const CONNECTIONS = '300';

/** Starts the server before the tests of a run, and removes it afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await onceARun('PostgreSQL', start);
  project.provide('postgres', server?.template ?? null);
  return async () => await server?.remove();
}

async function start(): Promise<{
  readonly template: PostgresTemplate;
  readonly remove: () => Promise<void>;
} | null> {
  if (findPostgres() === null) return null;
  const server = await startPostgres(undefined, { max_connections: CONNECTIONS });
  const template = { port: server.port, migrated: await makeTemplate(server) };
  let removed: Promise<void> | null = null;
  return {
    template,
    remove() {
      removed ??= server.remove();
      return removed;
    },
  };
}

async function makeTemplate(server: TestPostgres): Promise<string> {
  const databaseUrl = await server.createDatabase();
  const config = storeConfig({ databaseUrl });
  const store = await openStore(config, { clock: systemClock, log: silentLog() });
  await migrate(store, silentLog());
  await store.close();
  return new URL(databaseUrl).pathname.slice(1);
}

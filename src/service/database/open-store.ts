import type { Clock } from '../../runtime/clock.ts';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import type { Logger } from '../../runtime/logger.ts';
import { PostgresStore } from './postgres/postgres.ts';
import type { Store } from './store.ts';

export interface StoreConfig {
  /** `postgres://…`; null for the embedded database. */
  readonly databaseUrl: string | null;
  /** The same database without a connection pooler, for LISTEN; null for `databaseUrl`. */
  readonly directUrl?: string | null;
  /** Folder of the embedded database; null for memory. Not used with a `databaseUrl`. */
  readonly dataDir: string | null;
  /** Maximum number of connections, in addition to the one for LISTEN. */
  readonly poolSize: number;
  /** PostgreSQL ends a longer statement; the embedded database cannot. */
  readonly statementTimeoutMs: number;
  /** The names of the keys that this replica decrypts with, newest first: the other replicas see them. */
  readonly keyNames?: readonly string[];
}

interface StoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends an attempt to reach PostgreSQL at once. Default: never aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the database, and checks that it answers.
 *
 * @throws VedetteError `config` for a URL that is none, `environment` for a folder in use or not
 *   usable; StoreError `unavailable` where the server does not answer
 */
export async function openStore(config: StoreConfig, deps: StoreDeps): Promise<Store> {
  const { databaseUrl, dataDir, ...options } = config;
  const { signal, ...parts } = deps;
  if (databaseUrl === null) {
    // Loaded on demand: 10 MB of code that a service with PostgreSQL never needs.
    loadSequentially(import.meta.url, './pglite/pglite.js');
    const { openPglite } = await import('./pglite/pglite.ts');
    return openPglite(dataDir, parts);
  }
  const store = new PostgresStore({ databaseUrl, ...options, ...parts });
  const disconnect = (): void => store.disconnect();
  signal?.addEventListener('abort', disconnect, { once: true });
  try {
    await ping(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    signal?.removeEventListener('abort', disconnect);
  }
}

/** @throws StoreError where the database does not answer */
export async function ping(store: { query(text: string): Promise<unknown> }): Promise<void> {
  await store.query('select 1');
}

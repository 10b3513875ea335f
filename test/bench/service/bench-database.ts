import { findPostgres, startPostgres } from '../../support/database/postgres.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { cpuMsOfFamily } from '../cpu-time.ts';

/** A database of the benchmark, and the variables that point a service to it. */
export interface BenchDatabase {
  readonly name: 'PostgreSQL' | 'PGlite';
  readonly config: { readonly databaseUrl: string | null; readonly dataDir: string | null };
  readonly env: Readonly<Record<string, string>>;
  /** CPU milliseconds that the database takes outside of the service. */
  cpuMs(): number;
  remove(): Promise<void>;
}

/** A server, and databases of it. */
export interface BenchServer {
  open(): Promise<BenchDatabase>;
  remove(): Promise<void>;
}

/** @throws Error if there are no PostgreSQL binaries */
export async function startBenchServer(): Promise<BenchServer> {
  if (findPostgres() === null) {
    throw new Error('there is no initdb and postgres on the PATH: install postgresql');
  }
  // Like a server that must not lose anything.
  const server = await startPostgres(undefined, { fsync: 'on' });
  return {
    async open() {
      const databaseUrl = await server.createDatabase();
      return {
        name: 'PostgreSQL',
        config: { databaseUrl, dataDir: null },
        env: { DATABASE_URL: databaseUrl },
        cpuMs: () => cpuMsOfFamily(server.pid),
        // The database is removed with its server.
        remove: async () => {},
      };
    },
    remove: () => server.remove(),
  };
}

/** The only database of its server. */
export async function openPostgres(): Promise<BenchDatabase> {
  const server = await startBenchServer();
  return { ...(await server.open()), remove: () => server.remove() };
}

export async function openPglite(): Promise<BenchDatabase> {
  const folder = makeTempFolder();
  const dataDir = folder.file('data');
  return {
    name: 'PGlite',
    config: { databaseUrl: null, dataDir },
    env: { DATA_DIR: dataDir },
    cpuMs: () => 0,
    remove: async () => folder.remove(),
  };
}

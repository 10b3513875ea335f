import { systemClock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { restrictDataFolder } from '../../runtime/files/private-folder.ts';
import type { Logger } from '../../runtime/logger.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { ServiceConfig } from '../config.ts';
import { isMigrated, requireMigrated } from '../database/migrate.ts';
import { openStore } from '../database/open-store.ts';
import { hasDatabase } from '../database/pglite/data-folder.ts';
import { requireOwner } from '../database/pglite/folder-owner.ts';
import type { Store } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';

/** The files of the service in DATA_DIR. */
const DATA_NAMES = ['database', 'database.lock', 'encryption-key', 'artifacts'];

/**
 * Requires a named database, for commands: a database in memory would be empty and lost with the process.
 *
 * @throws VedetteError where neither DATABASE_URL nor DATA_DIR is set
 */
export function requireNamedDatabase({
  databaseUrl,
  dataDir,
}: Pick<ServiceConfig, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl !== null || dataDir !== null) return;
  throw new VedetteError(
    'config',
    'CONFIG_MISSING',
    'neither DATABASE_URL nor DATA_DIR is set, so no database is named: set the same one as the service',
  );
}

/**
 * Opens the configured database for a command that neither creates a database nor migrates the schema.
 *
 * @param later what to do with the database of a later release
 * @throws VedetteError where no database is named, it is unavailable, or it has no tables of this release
 */
export async function withExistingStore<Result>(
  config: ServiceConfig,
  log: Logger,
  use: (store: Store) => Promise<Result>,
  later: 'warn' | 'refuse' = 'warn',
): Promise<Result> {
  requireNamedDatabase(config);
  requireDatabaseInFolder(config);
  return await withStore(config, log, async (store) => {
    await requireTables(store);
    await requireMigrated(store, log, later);
    return await use(store);
  });
}

/**
 * Requires an existing database in DATA_DIR: opening it would otherwise create one.
 *
 * @throws VedetteError if DATA_DIR is set and contains no database, or one of another user
 */
export function requireDatabaseInFolder({
  databaseUrl,
  dataDir,
}: Pick<ServiceConfig, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl !== null || dataDir === null) return;
  requireOwner(dataDir);
  if (hasDatabase(dataDir)) return;
  throw nothingStored(`DATA_DIR is ${JSON.stringify(dataDir)}, where there is no database`);
}

/** @throws VedetteError where the service has never used the database */
export async function requireTables(store: Store): Promise<void> {
  if (await isMigrated(store)) return;
  const name = store.kind === 'pglite' ? 'DATA_DIR' : 'DATABASE_URL';
  throw nothingStored(`the database of ${name} has no tables of the service`);
}

function nothingStored(what: string): VedetteError {
  return new VedetteError(
    'environment',
    'DATABASE_EMPTY',
    `${what}: set DATABASE_URL or DATA_DIR as the service has it`,
  );
}

/**
 * Opens the configured database for `use`, and closes it.
 *
 * @param signal ends an attempt to reach PostgreSQL at once
 * @throws VedetteError where it cannot be reached, another process has its folder, or this is root and the folder
 *   belongs to another user
 */
export async function withStore<Result>(
  config: ServiceConfig,
  log: Logger,
  use: (store: Store) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const { databaseUrl, dataDir, poolSize, statementTimeoutMs, encryptionKeys } = config;
  const { databaseDirectUrl: directUrl } = config;
  const keyNames = encryptionKeys === null ? [] : createSecretBox(encryptionKeys).keyNames;
  if (databaseUrl === null && dataDir === null) {
    log.warn(
      'neither DATABASE_URL nor DATA_DIR is set: all data is in memory and gone with the process',
    );
  }
  if (databaseUrl === null && dataDir !== null) requireOwner(dataDir);
  if (dataDir !== null) await restrictDataFolder(dataDir, DATA_NAMES, log);
  try {
    const store = await openStore(
      { databaseUrl, directUrl, dataDir, poolSize, statementTimeoutMs, keyNames },
      { clock: systemClock, log, ...(signal === undefined ? {} : { signal }) },
    );
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw error instanceof StoreError && error.kind === 'unavailable' ? away(error) : error;
  }
}

/** An error of the environment, which the operator can fix. */
function away(error: StoreError): VedetteError {
  return new VedetteError(
    'environment',
    error.code,
    `the service cannot start: ${error.message}: see that the database runs and that DATABASE_URL is right, then start again`,
    { cause: error },
  );
}

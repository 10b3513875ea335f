import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import type { Store, Transaction } from './store.ts';
import { StoreError } from './store-errors.ts';

interface Migration {
  readonly number: number;
  /** The file's name. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 in hex; line ends do not count. */
  readonly checksum: string;
}

/** Next to this module both in src and in dist: the build copies the files. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url));

const NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

export interface MigrateOptions {
  readonly folder?: string;
  readonly clock?: Clock;
  /** Applies no further migration once it aborts; one that has begun is completed. */
  readonly signal?: AbortSignal;
}

export interface Migrated {
  /** The names of the files that this process has applied, in order. */
  readonly applied: readonly string[];
  /** The names of the files that were not applied because the signal aborted. */
  readonly left: readonly string[];
}

interface Applied {
  readonly [column: string]: unknown;
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** Arbitrary; no other program on the same database may use it. */
const LOCK_KEY = 7_236_530_117;
/** How long to wait for another replica that migrates. */
const LOCK_WAIT_MS = 60_000;
/**
 * How long to wait for a table that the previous release uses. Later statements wait behind a waiting
 * migration, so it gives up soon and tries again.
 */
const TABLE_WAIT_MS = 3000;
export const MIGRATION_TIMEOUT_MS = 30 * 60_000;
const MAX_TRIES = 10;
const FIRST_DELAY_MS = 2000;
const LONGEST_DELAY_MS = 4000;

const HISTORY = `create table if not exists schema_migrations (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

const APPLIED = 'select number, name, checksum from schema_migrations order by number';

/**
 * Migrates the schema to this release. Applies each file in its own transaction together with its row in
 * schema_migrations, under an advisory lock that starting replicas compete for. The previous release keeps
 * running in the meantime and may restart on the newer schema. Therefore a migration only adds; it may remove
 * something at the earliest one release after its last use.
 *
 * @throws VedetteError `input` where an applied file was changed or is missing; StoreError where the
 *   database refuses or the lock is not free within 60 s
 */
export async function migrate(
  store: Store,
  log: Logger,
  options: MigrateOptions = {},
): Promise<Migrated> {
  const { folder = MIGRATIONS_FOLDER, clock = systemClock } = options;
  const signal = options.signal ?? new AbortController().signal;
  const migrations = await readMigrations(folder);
  const applied: string[] = [];
  const backoff = new Backoff({ minMs: FIRST_DELAY_MS, maxMs: LONGEST_DELAY_MS });
  for (let tries = 1; ; ) {
    if (signal.aborted) return { applied, left: await unapplied(store, migrations) };
    try {
      const name = await store.transaction((tx) => applyNext(tx, migrations), {
        statementTimeoutMs: MIGRATION_TIMEOUT_MS,
      });
      if (name === null) break;
      applied.push(name);
      tries = 1;
      backoff.reset();
      log.info(`database schema: applied ${name}`);
    } catch (thrown) {
      const isBlocked = thrown instanceof StoreError && thrown.code === 'STORE_LOCK_TIMEOUT';
      if (!isBlocked || tries >= MAX_TRIES) throw thrown;
      tries += 1;
      log.warn('database schema: waiting for statements of a running service, trying again');
      await sleep(clock, backoff.next(), signal);
    }
  }
  return { applied, left: [] };
}

async function unapplied(
  store: Pick<Store, 'query'>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const done = (await isMigrated(store)) ? await store.query<Applied>(APPLIED) : [];
  return migrations.slice(done.length).map(({ name }) => name);
}

/**
 * Requires the schema of this release, for commands that must not change it.
 *
 * @param later whether to accept the schema of a later release, as services do
 * @throws VedetteError where the schema is of an earlier release, or of a later one that is refused, or an
 *   applied file was changed or is missing
 */
export async function requireMigrated(
  store: Pick<Store, 'query'>,
  log: Logger,
  later: 'warn' | 'refuse' = 'warn',
): Promise<void> {
  const migrations = await readMigrations(MIGRATIONS_FOLDER);
  const done = await store.query<Applied>(APPLIED);
  requireSameHistory(done, migrations);
  const [had, wanted] = [done.length, migrations.length];
  if (had < wanted) {
    throw new VedetteError(
      'environment',
      'SCHEMA_OUTDATED',
      `the database has the schema of an earlier release (migration ${had} of ${wanted}), which this command does not change: run the command of the release that the service has, or upgrade the service, or run vedette service migrate first`,
    );
  }
  if (had > wanted) {
    const found = `the database has the schema of a later release (migration ${had}, this one knows ${wanted})`;
    if (later === 'refuse') {
      throw new VedetteError(
        'environment',
        'SCHEMA_LATER',
        `${found}, whose tables this command does not all know: run that of the later release`,
      );
    }
    log.warn(`${found}: if the command fails, run that of the later release`);
  }
}

/** Whether the database has tables of the service, of any release. */
export async function isMigrated(store: Pick<Store, 'query'>): Promise<boolean> {
  const [row] = await store.query<{ there: boolean }>(
    "select to_regclass('schema_migrations') is not null as there",
  );
  return row?.there === true;
}

/** Applies the next file and returns its name; null if all are applied. */
async function applyNext(tx: Transaction, migrations: readonly Migration[]) {
  await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
  await tx.query(`set local lock_timeout = ${TABLE_WAIT_MS}`);
  await tx.query(HISTORY);
  const done = await tx.query<Applied>(APPLIED);
  requireSameHistory(done, migrations);
  const next = migrations[done.length];
  if (next === undefined) return null;
  await tx.script(next.sql);
  await tx.query('insert into schema_migrations (number, name, checksum) values ($1, $2, $3)', [
    next.number,
    next.name,
    next.checksum,
  ]);
  return next.name;
}

/** More migrations than this release has are allowed: a newer release applied them. */
function requireSameHistory(done: readonly Applied[], migrations: readonly Migration[]): void {
  for (const [index, { number, name, checksum }] of done.entries()) {
    if (number !== index + 1) {
      throw refused(
        'MIGRATION_MISSING',
        `the database has migration ${number} (${name}) but not ${index + 1}: its schema_migrations was edited, or it is the database of another program`,
      );
    }
    const known = migrations[index];
    if (known !== undefined && known.checksum !== checksum) {
      throw refused(
        'MIGRATION_CHANGED',
        `migration ${known.name} is not the one that was applied to the database as ${name}: put the released file back`,
      );
    }
  }
}

function refused(code: string, message: string): VedetteError {
  return new VedetteError('input', code, message);
}

/**
 * The migrations of a folder, in their order.
 *
 * @throws VedetteError `internal` where a name is not of the form 0001_what_it_does.sql, or the
 *   numbers are not 1, 2, 3 …
 */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(NAME.exec(name)?.[1]);
      if (number !== index + 1) {
        throw new VedetteError(
          'internal',
          'MIGRATION_NUMBER',
          `${name} in ${folder} should be a migration with the number ${index + 1}: this installation is incomplete or mixed from two releases, install it again`,
        );
      }
      const sql = (await readFile(`${folder}/${name}`, 'utf8')).replaceAll('\r\n', '\n');
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

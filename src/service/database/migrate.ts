import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from './migration-files.ts';
import type { Store, Transaction } from './port.ts';
import { StoreError } from './store-errors.ts';

export interface MigrateOptions {
  readonly folder?: string;
  readonly clock?: Clock;
  /** Ends the waiting between two tries. */
  readonly signal?: AbortSignal;
}

interface Applied {
  readonly [column: string]: unknown;
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** Any number will do, so long as no other program on the same database has it. */
const LOCK_KEY = 7_236_530_117;
/** For another replica that migrates. */
const LOCK_WAIT_MS = 60_000;
/**
 * For a table that the former release uses. While a migration waits for it, all that come after
 * wait too: so it lets go soon, and tries again later.
 */
const TABLE_WAIT_MS = 3000;
const MIGRATION_TIMEOUT_MS = 30 * 60_000;
const MAX_TRIES = 10;
const FIRST_DELAY_MS = 2000;
const LONGEST_DELAY_MS = 4000;

const HISTORY = `create table if not exists schema_migrations (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)`;

/**
 * Brings the schema to this release: each file in a transaction of its own with its line in
 * schema_migrations, under a lock that replicas starting at once share. The former release goes on
 * meanwhile, and may start again on the newer schema: so a file only ever adds, and takes away no
 * sooner than a release after nothing uses it.
 * @returns the names of the files applied now, by this process
 * @throws VedetteError `input` where an applied file was changed or is missing; StoreError where the
 *   database refuses or the lock is not had within 60 s
 */
export async function migrate(
  store: Store,
  log: Logger,
  options: MigrateOptions = {},
): Promise<{ readonly applied: readonly string[] }> {
  const { folder = MIGRATIONS_FOLDER, clock = systemClock } = options;
  const signal = options.signal ?? new AbortController().signal;
  const migrations = await readMigrations(folder);
  const applied: string[] = [];
  const backoff = new Backoff({ minMs: FIRST_DELAY_MS, maxMs: LONGEST_DELAY_MS });
  for (let tries = 1; ; ) {
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
      if (!(await sleep(clock, backoff.next(), signal))) throw thrown;
    }
  }
  return { applied };
}

/** Whether the database has tables of the service, of whatever release. */
export async function isMigrated(store: Pick<Store, 'query'>): Promise<boolean> {
  const [row] = await store.query<{ there: boolean }>(
    "select to_regclass('schema_migrations') is not null as there",
  );
  return row?.there === true;
}

/** Applies the first file that is not yet, and returns its name; null where there is none. */
async function applyNext(tx: Transaction, migrations: readonly Migration[]) {
  await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
  await tx.query(`set local lock_timeout = ${TABLE_WAIT_MS}`);
  await tx.query(HISTORY);
  const done = await tx.query<Applied>(
    'select number, name, checksum from schema_migrations order by number',
  );
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

/** A newer release may have applied more than this one has: it must be able to run on it. */
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

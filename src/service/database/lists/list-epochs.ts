import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store, Transaction, TransactionOptions } from '../store.ts';
import { StoreError, storeErrorKind } from '../store-errors.ts';

/** Arbitrary; no other program on the same database may use it. */
const LOCK_KEY = 7_236_530_119;

const IS_GRANTED = `select has_function_privilege('pg_control_system()', 'execute')
  and has_function_privilege('pg_control_checkpoint()', 'execute') as is_granted`;

/** The epoch, and whether it began in this cluster and on this timeline. */
const CURRENT = `select e.epoch,
    e.system_identifier = s.system_identifier::text and e.timeline = c.timeline_id as is_here
  from list_epochs e, pg_control_system() s, pg_control_checkpoint() c
  order by e.epoch desc limit 1`;

type Current = { readonly epoch: number; readonly isHere: boolean };

const EVERY_MS = 60_000;
const MAX_BACK_OFF_MS = 60_000;
/**
 * Timeouts of the attempts to lock the tables. A waiting lock blocks later writers, so they begin short. The
 * last one exceeds PostgreSQL's deadlock_timeout (1 s), after which a waiting lock cancels an autovacuum.
 */
const LOCK_WAITS_MS = [100, 200, 400, 800, 1_600];
const BETWEEN_ATTEMPTS_MS = 2_000;
/** The tables are locked one after the other. */
const LIMITS: TransactionOptions = { statementTimeoutMs: 2_000 };
const IN_USE: readonly string[] = ['STORE_LOCK_TIMEOUT', 'STORE_STATEMENT_TIMEOUT'];

export interface ListEpochsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Begins a new epoch of list positions after the database was restored from a backup or a standby took over:
 * transactions may then have lower numbers than before, and cursors would miss what they store. See
 * src/service/database/README.md, "Cursors". Safe on several replicas.
 */
export interface ListEpochs {
  /** Checks once. If the tables stay in use for longer than a moment, leaves the rest to `maintain`. */
  renew(): Promise<void>;
  /** Checks every minute until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createListEpochs({ store, clock, log }: ListEpochsParts): ListEpochs {
  let isWarned = false;

  /** @throws StoreError also if a table was in use for longer than the wait */
  async function look(lockWaitMs: number): Promise<void> {
    const [granted] = await store.query<{ readonly isGranted: boolean }>(IS_GRANTED);
    if (granted?.isGranted !== true) {
      if (!isWarned) {
        log.warn(
          'the database user may not execute pg_control_system() and pg_control_checkpoint(), so a restored database is not noticed and cursors of lists may miss entries after it: grant execute on both functions to it',
        );
      }
      isWarned = true;
      return;
    }
    const [known] = await store.query<Current>(CURRENT);
    if (known?.isHere !== false) return;
    const epoch = await store.transaction(async (tx) => {
      // Does not wait if another replica is already doing this.
      const [lock] = await tx.query<{ readonly isMine: boolean }>(
        'select pg_try_advisory_xact_lock($1) as is_mine',
        [LOCK_KEY],
      );
      if (lock?.isMine !== true) return null;
      const [current] = await tx.query<Current>(CURRENT);
      if (current?.isHere !== false) return null;
      await tx.query(`set local lock_timeout = ${lockWaitMs}`);
      return begin(tx, current.epoch + 1);
    }, LIMITS);
    if (epoch === null) return;
    log.info(
      { epoch },
      'the database was restored or a standby took over: cursors of lists continue in a new epoch',
    );
  }

  /** @param waitsMs how long to wait for a table in each attempt */
  async function tryToLook(waitsMs: readonly number[], signal: AbortSignal): Promise<void> {
    const [waitMs = 0, ...laterMs] = waitsMs;
    try {
      await look(waitMs);
    } catch (error) {
      if (!isInUse(error) || laterMs.length === 0) throw error;
      if (await sleep(clock, BETWEEN_ATTEMPTS_MS, signal)) await tryToLook(laterMs, signal);
    }
  }

  return {
    async renew() {
      await look(LOCK_WAITS_MS[0] ?? 0).catch((error) => {
        if (!isInUse(error)) throw error;
      });
    },

    maintain(signal) {
      const options = {
        everyMs: EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'a new epoch of list positions could not begin, trying again',
        kindOf: storeErrorKind,
        log,
      };
      return runEvery(clock, options, () => tryToLook(LOCK_WAITS_MS, signal), signal);
    },
  };
}

function isInUse(error: unknown): boolean {
  return error instanceof StoreError && IN_USE.includes(error.code);
}

async function begin(tx: Transaction, epoch: number): Promise<number> {
  const tables = await tx.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname = 'list_position' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = (select relnamespace from pg_class where oid = 'list_epochs'::regclass)
     order by 1`,
  );
  // Waits until transactions that have stored entries in the old epoch have ended.
  const names = tables.map(({ name }) => name).join(', ');
  await tx.query(`lock table ${names} in share row exclusive mode`);
  await tx.script(
    `create or replace function next_list_position() returns bigint language sql volatile as
       'select (${epoch}::bigint << 42) + pg_current_xact_id()::text::bigint';
     create or replace function list_horizon() returns bigint language sql stable as
       'select (${epoch}::bigint << 42) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint'`,
  );
  await tx.query(
    `insert into list_epochs (epoch, system_identifier, timeline)
     select $1::bigint, system_identifier::text, timeline_id
     from pg_control_system(), pg_control_checkpoint()`,
    [epoch],
  );
  return epoch;
}

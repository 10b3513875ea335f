import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Sql, Store, TransactionOptions } from '../../database/store.ts';
import { StoreError, storeErrorKind } from '../../database/store-errors.ts';
import { lockSubjects } from '../intake/subjects.sql.ts';
import {
  listOutdatedStates,
  lockOutdatedStates,
  nextOutdatedChecks,
  type OutdatedCheck,
  readLatestStates,
  readStates,
} from './outdated-states.sql.ts';

/**
 * Maximum number of checks per transaction: the intake of their results waits for it. The first transaction has
 * one check and each further one twice as many, so that slow checks do not exceed MAX_WORK_MS by much.
 */
const CHECKS_PER_TRANSACTION = 10;
const CHECKS_PER_PAGE = 250;
/** Replaces the store's own limit, which may be 30 s. */
const LIMITS: TransactionOptions = { statementTimeoutMs: 2_000 };
/** Time limit of a refresh; later reads or the background work refresh the remaining checks. */
const MAX_WORK_MS = 1_000;
const RETRY_AFTER_MS = 60_000;
const MAX_FAILURES = 10_000;
/** How often the background looks for outdated states. */
const EVERY_MS = 60_000;
const MAX_BACK_OFF_MS = 300_000;
/** The pause between two batches in the background, which gives priority to the intake and other readers. */
const PAUSE_MS = 200;

export interface OutdatedStatesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

interface StatesOf {
  readonly accountId: string;
  /** null for all checks. */
  readonly checkId: string | null;
}

/**
 * Refreshes outdated states of checks: those whose beginning may have changed because of a late result, and
 * those that the previous release wrote. A state that cannot be refreshed in time stays outdated, and its
 * beginning unknown.
 */
export interface OutdatedStates {
  /**
   * Refreshes the outdated states of the account. Call it before states are read. Usually few states are outdated.
   * After an upgrade many are: it then returns after about a second, and later calls continue.
   */
  refresh(of: StatesOf): Promise<void>;
  /**
   * Refreshes the outdated states of all accounts in batches, and checks for new ones every minute, until the
   * signal aborts. Only one replica at a time does this. Logs failures.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

const START: OutdatedCheck = { accountId: '', checkId: '' };

export function createOutdatedStates({ store, clock, log }: OutdatedStatesParts): OutdatedStates {
  const throttled = new ThrottledLog(clock, log);
  /** When each check that could not be refreshed may be retried, on its own; keyed by account and check. */
  const failures = new Map<string, number>();
  let after = START;

  /** @returns false where it takes too long */
  const run = (
    read: typeof readStates,
    accountId: string,
    checkIds: readonly string[],
    lock: (tx: Sql) => Promise<boolean> = async () => true,
  ): Promise<boolean> =>
    succeeds(() =>
      store.transaction(async (tx) => {
        if (!(await lock(tx))) return;
        await lockSubjects(tx, { accountId, checkIds });
        await read(tx, { accountId, checkIds });
      }, LIMITS),
    );

  function noteFailure(key: string, retryAtMs: number): void {
    // At the end of the map, so that the oldest is at its start.
    failures.delete(key);
    const [oldest] = failures.keys();
    if (failures.size >= MAX_FAILURES && oldest !== undefined) failures.delete(oldest);
    failures.set(key, retryAtMs);
  }

  async function refreshAlone(accountId: string, checkId: string): Promise<void> {
    const key = keyOf({ accountId, checkId });
    if (await run(readStates, accountId, [checkId])) {
      failures.delete(key);
      return;
    }
    throttled.warn(
      'too slow',
      { accountId, checkId },
      `the results of a check could not be read within ${LIMITS.statementTimeoutMs} ms, so it is not known since when it is in its state; trying again in a minute: see what slows down the database`,
    );
    noteFailure(key, clock.monotonicMs() + RETRY_AFTER_MS);
    await run(readLatestStates, accountId, [checkId]);
  }

  /** Whether a check may be retried. */
  const isDue = (key: string): boolean => (failures.get(key) ?? 0) <= clock.monotonicMs();

  async function refresh({ accountId, checkId }: StatesOf): Promise<void> {
    const endMs = clock.monotonicMs() + MAX_WORK_MS;
    const keyOfId = (id: string): string => keyOf({ accountId, checkId: id });
    let size = 1;
    for (let afterId = ''; ; ) {
      const page = { accountId, checkId, afterId, limit: CHECKS_PER_PAGE };
      const checkIds = await listOutdatedStates(store, page);
      const isAlone = (id: string): boolean => failures.has(keyOfId(id));
      const together = checkIds.filter((id) => !isAlone(id));
      const alone = checkIds.filter(isAlone);
      while (together.length > 0) {
        if (clock.monotonicMs() >= endMs) return;
        const batch = together.splice(0, size);
        size = Math.min(size * 2, CHECKS_PER_TRANSACTION);
        if (await run(readStates, accountId, batch)) continue;
        for (const id of batch) noteFailure(keyOfId(id), clock.monotonicMs());
        alone.push(...batch);
      }
      for (const id of alone) {
        if (clock.monotonicMs() >= endMs) return;
        if (isDue(keyOfId(id))) await refreshAlone(accountId, id);
      }
      if (checkIds.length < CHECKS_PER_PAGE) return;
      afterId = checkIds.at(-1) ?? afterId;
    }
  }

  /** Refreshes the next batch of one account. @returns whether there may be more */
  async function refreshNext(signal: AbortSignal): Promise<boolean> {
    const found = await nextOutdatedChecks(store, { after, limit: CHECKS_PER_TRANSACTION });
    const [first] = found;
    if (first === undefined) {
      after = START;
      return false;
    }
    const { accountId } = first;
    const checks = found.filter((check) => check.accountId === accountId);
    const together = checks.filter((check) => !failures.has(keyOf(check)));
    const alone = checks.filter((check) => failures.has(keyOf(check)) && isDue(keyOf(check)));
    let isElsewhere = false;
    const lock = async (tx: Sql): Promise<boolean> => {
      const isLocked = await lockOutdatedStates(tx);
      isElsewhere = !isLocked;
      return isLocked;
    };
    const ids = together.map(({ checkId }) => checkId);
    if (ids.length > 0 && !(await run(readStates, accountId, ids, lock))) alone.push(...together);
    if (isElsewhere) return false;
    for (const { checkId } of alone) {
      if (signal.aborted) return false;
      await refreshAlone(accountId, checkId);
    }
    after = checks.at(-1) ?? START;
    return sleep(clock, PAUSE_MS, signal);
  }

  return {
    refresh,

    maintain(signal) {
      const options = {
        everyMs: EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'outdated states of checks could not be refreshed',
        kindOf: storeErrorKind,
        log,
      };
      return runEvery(clock, options, () => refreshNext(signal), signal);
    },
  };
}

function keyOf({ accountId, checkId }: OutdatedCheck): string {
  return JSON.stringify([accountId, checkId]);
}

const TOO_SLOW: readonly string[] = ['STORE_STATEMENT_TIMEOUT', 'STORE_LOCK_TIMEOUT'];

/** Returns false if the refresh is too slow: this must not fail the read of states. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof StoreError && TOO_SLOW.includes(error.code)) return false;
    throw error;
  }
}

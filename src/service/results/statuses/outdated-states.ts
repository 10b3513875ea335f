import type { Clock } from '../../../runtime/clock.ts';
import type { Store, TransactionOptions } from '../../database/store.ts';
import { StoreError } from '../../database/store-errors.ts';
import { lockSubjects } from '../intake/subjects.sql.ts';
import { outdatedStates, readLatestStates, readStates } from './outdated-states.sql.ts';

/**
 * Bounds how long a transaction locks checks: their intake waits. The first has one check, each next twice
 * as many, so that where they take long one read does not do much more than MAX_WORK_MS.
 */
const CHECKS_A_TRANSACTION = 10;
const CHECKS_A_PAGE = 250;
/** Replaces the store's own limit, which may be 30 s. */
const LIMITS: TransactionOptions = { statementTimeoutMs: 2_000 };
/** Later reads refresh the others. */
const MAX_WORK_MS = 1_000;
const RETRY_AFTER_MS = 60_000;
const MAX_FAILURES = 10_000;

interface StatesOf {
  readonly accountId: string;
  /** null for all checks. */
  readonly checkId: string | null;
}

/**
 * When each check that could not be refreshed may be tried again, alone; by account and check. Of a
 * replica, whose features share the store.
 */
const failuresOf = new WeakMap<Store, Map<string, number>>();

/**
 * Brings the states of the account's checks up to date: those in which a late result may have changed
 * the beginning, and those that the previous release wrote. Few are outdated at any time, except after
 * an upgrade: then it ends after about a second, and later calls go on. To be called before states are
 * read. A state that cannot be refreshed in time stays outdated, without since when it holds.
 */
export async function refreshStates(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { accountId, checkId }: StatesOf,
): Promise<void> {
  const failures = failuresOf.get(store) ?? new Map<string, number>();
  failuresOf.set(store, failures);
  const keyOf = (id: string): string => JSON.stringify([accountId, id]);
  const endMs = clock.monotonicMs() + MAX_WORK_MS;

  const run = (read: typeof readStates, checkIds: readonly string[]): Promise<boolean> =>
    succeeds(() =>
      store.transaction(async (tx) => {
        await lockSubjects(tx, { accountId, checkIds });
        await read(tx, { accountId, checkIds });
      }, LIMITS),
    );

  function noteFailure(id: string, retryAtMs: number): void {
    // At the end of the map, so that the oldest is at its start.
    failures.delete(keyOf(id));
    const [oldest] = failures.keys();
    if (failures.size >= MAX_FAILURES && oldest !== undefined) failures.delete(oldest);
    failures.set(keyOf(id), retryAtMs);
  }

  async function refreshAlone(id: string): Promise<void> {
    if (await run(readStates, [id])) {
      failures.delete(keyOf(id));
      return;
    }
    noteFailure(id, clock.monotonicMs() + RETRY_AFTER_MS);
    await run(readLatestStates, [id]);
  }

  let size = 1;
  for (let afterId = ''; ; ) {
    const page = { accountId, checkId, afterId, limit: CHECKS_A_PAGE };
    const checkIds = await outdatedStates(store, page);
    const isAlone = (id: string): boolean => failures.has(keyOf(id));
    const together = checkIds.filter((id) => !isAlone(id));
    const alone = checkIds.filter(isAlone);
    while (together.length > 0) {
      if (clock.monotonicMs() >= endMs) return;
      const batch = together.splice(0, size);
      size = Math.min(size * 2, CHECKS_A_TRANSACTION);
      if (await run(readStates, batch)) continue;
      for (const id of batch) noteFailure(id, clock.monotonicMs());
      alone.push(...batch);
    }
    for (const id of alone) {
      if (clock.monotonicMs() >= endMs) return;
      if ((failures.get(keyOf(id)) ?? 0) <= clock.monotonicMs()) await refreshAlone(id);
    }
    if (checkIds.length < CHECKS_A_PAGE) return;
    afterId = checkIds.at(-1) ?? afterId;
  }
}

const TOO_SLOW: readonly string[] = ['STORE_STATEMENT_TIMEOUT', 'STORE_LOCK_TIMEOUT'];

/** A read of states must not fail where only a refresh is too slow. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof StoreError && TOO_SLOW.includes(error.code)) return false;
    throw error;
  }
}

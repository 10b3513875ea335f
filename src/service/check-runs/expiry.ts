import type { Clock } from '../../runtime/clock.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runEvery } from '../../runtime/run-every.ts';
import type { Sql, Store } from '../database/port.ts';
import { storeFaultKind } from '../database/store-errors.ts';
import { lockSubjects } from '../results/exports.ts';
import { recordMissed } from '../results/missed-slots/record-missed.ts';
import {
  deleteOldRuns,
  expireRuns,
  listOverdueRuns,
  lockOverdueRuns,
  type OverdueRun,
  returnRuns,
} from './expiry.sql.ts';
import { RETRY_WINDOW_MS } from './handovers.ts';

const PATIENCE = {
  /**
   * Ten minutes of retries (src/model/README.md, "The check file"), the last attempt's 30 s, and
   * some for the way.
   */
  runningMs: 660_000,
  /** What is in a spool comes within seconds, unless the service was away. */
  uploadMs: 30_000,
} as const;
const DAY_MS = 86_400_000;
const SWEEP_EVERY_MS = 1000;
const DELETE_EVERY_MS = 3_600_000;
const MAX_BACK_OFF_MS = 30_000;
/** Runs in one go. */
const BATCH = 500;
const DELETE_BATCH = 5000;

/**
 * Takes back or gives up, once, whatever is past its time: a retry goes back to the location where
 * its run began and has a minute there; what it had back already is given up, and its slot is
 * noted as missed; a run that was asked for just ends. Safe on several replicas.
 *
 * @returns how many runs it did so with
 */
export async function sweepCheckRuns(store: Store): Promise<number> {
  let swept = 0;
  for (;;) {
    const overdue = await listOverdueRuns(store, PATIENCE, BATCH);
    let found = 0;
    for (const [accountId, runs] of byAccount(overdue)) {
      found += await store.transaction((tx) => sweepAccount(tx, accountId, runs));
    }
    swept += found;
    // Where nothing was to be had of a whole batch, another replica is at it.
    if (overdue.length < BATCH || found === 0) return swept;
  }
}

async function sweepAccount(
  tx: Sql,
  accountId: string,
  runs: readonly Pick<OverdueRun, 'id' | 'checkId'>[],
): Promise<number> {
  // First the checks, as where results come in, so that neither waits for the other; and a FINAL
  // is either seen here or sees what is written here.
  const checkIds = [...new Set(runs.map(({ checkId }) => checkId))];
  const subjects = await lockSubjects(tx, { accountId, checkIds });
  const existing = new Set(subjects.map(({ checkId }) => checkId));
  const overdue = await lockOverdueRuns(
    tx,
    PATIENCE,
    runs.map(({ id }) => id),
  );
  const back = overdue.filter(({ comesBack }) => comesBack);
  const lost = overdue.filter(({ comesBack }) => !comesBack);
  await returnRuns(tx, { ids: back.map(({ id }) => id), windowMs: RETRY_WINDOW_MS });
  await expireRuns(
    tx,
    lost.map(({ id }) => id),
  );
  for (const location of new Set(lost.map(({ slotOf }) => slotOf))) {
    if (location === null) continue;
    const missed = lost.filter((run) => run.slotOf === location && existing.has(run.checkId));
    const ranges = missed.map(({ checkId, slotMs }) => {
      return { checkId, slot: slotMs, lastSlot: slotMs, count: 1, reason: 'retry_lost' };
    });
    await recordMissed(tx, { accountId, location, ranges }, yieldToEventLoop);
  }
  return overdue.length;
}

function byAccount<T extends { readonly accountId: string }>(
  items: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.accountId);
    if (group === undefined) groups.set(item.accountId, [item]);
    else group.push(item);
  }
  return groups;
}

/** Deletes runs that ended, as old as no result may be: results are admitted by them. */
async function deleteCheckRuns(
  store: Store,
  retentionDays: number,
  signal: AbortSignal,
): Promise<void> {
  const keep = { keptMs: (retentionDays + 2) * DAY_MS, limit: DELETE_BATCH };
  while (!signal.aborted && (await deleteOldRuns(store, keep)) === DELETE_BATCH);
}

/**
 * Sweeps every second or so, and once an hour deletes what is old, until the signal aborts. What
 * fails is logged when it begins to and tried again, ever less often up to every half a minute.
 */
export async function runCheckRunExpiry(
  {
    store,
    clock,
    log,
    retentionDays,
  }: {
    readonly store: Store;
    readonly clock: Clock;
    readonly log: Logger;
    /** Whole days, as of the results. */
    readonly retentionDays: number;
  },
  signal: AbortSignal,
): Promise<void> {
  let deletedAtMs = Number.NEGATIVE_INFINITY;
  const options = {
    everyMs: SWEEP_EVERY_MS,
    maxMs: MAX_BACK_OFF_MS,
    failure: 'expired runs could not be removed',
    kindOf: storeFaultKind,
    log,
  };
  await runEvery(
    clock,
    options,
    async () => {
      await sweepCheckRuns(store);
      if (clock.monotonicMs() - deletedAtMs < DELETE_EVERY_MS) return;
      await deleteCheckRuns(store, retentionDays, signal);
      deletedAtMs = clock.monotonicMs();
    },
    signal,
  );
}

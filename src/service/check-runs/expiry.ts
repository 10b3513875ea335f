import { LONGEST_RUN_MS } from '../../model/check/retry.ts';
import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sql, Store } from '../database/store.ts';
import { recordMissed } from '../results/missed-slots/record-and-remove-missed.ts';
import { lockSubjects } from '../results/shared.sql.ts';
import {
  deleteOldRuns,
  expireRuns,
  listOverdueRuns,
  lockOverdueRuns,
  type OverdueRun,
  returnRuns,
} from './expiry.sql.ts';
import { RETRY_WINDOW_MS } from './handovers.ts';
import { runSweeps } from './sweeps.ts';

/** How long a requested run may wait for an agent. */
export const REQUEST_WINDOW_MS = 600_000;

const LIMITS = {
  runningMs: LONGEST_RUN_MS,
  /** Agents upload their spools within seconds, unless the service was down. */
  uploadMs: 30_000,
} as const;
const DELETE_EVERY_MS = 3_600_000;
const BATCH = 500;
const DELETE_BATCH = 5000;

/**
 * Handles all overdue runs once. A retry returns to the location where its run began, and has a minute there.
 * A retry that returned before expires, and its slot is recorded as missed. A requested run expires. Safe on
 * several replicas.
 *
 * @returns how many runs returned or expired
 */
export async function sweepCheckRuns(store: Store): Promise<number> {
  let swept = 0;
  for (;;) {
    const overdue = await listOverdueRuns(store, LIMITS, BATCH);
    let handled = 0;
    for (const [accountId, runs] of groupBy(overdue, (run) => run.accountId)) {
      handled += await store.transaction((tx) => sweepAccount(tx, accountId, runs));
    }
    swept += handled;
    // If no run of a full batch could be locked, another replica is handling them.
    if (overdue.length < BATCH || handled === 0) return swept;
  }
}

async function sweepAccount(
  tx: Sql,
  accountId: string,
  runs: readonly Pick<OverdueRun, 'id' | 'checkId'>[],
): Promise<number> {
  // Locks the checks first, like the intake of results: the two cannot deadlock, and each sees what the
  // other wrote.
  const checkIds = [...new Set(runs.map(({ checkId }) => checkId))];
  const subjects = await lockSubjects(tx, { accountId, checkIds });
  const existing = new Set(subjects.map(({ checkId }) => checkId));
  const overdue = await lockOverdueRuns(tx, LIMITS, idsOf(runs));
  const returning = overdue.filter(({ returns }) => returns);
  const lost = overdue.filter(({ returns }) => !returns);
  await returnRuns(tx, { ids: idsOf(returning), windowMs: RETRY_WINDOW_MS });
  await expireRuns(tx, idsOf(lost));
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

function idsOf(runs: readonly Pick<OverdueRun, 'id'>[]): readonly string[] {
  return runs.map(({ id }) => id);
}

/** Deletes ended runs, but only after results for them are no longer accepted: accepting results needs their rows. */
async function deleteCheckRuns(
  store: Store,
  retentionDays: number,
  signal: AbortSignal,
): Promise<void> {
  const old = { olderThanMs: (retentionDays + 2) * DAY_MS, limit: DELETE_BATCH };
  while (!signal.aborted && (await deleteOldRuns(store, old)) === DELETE_BATCH);
}

/** Sweeps about every second, and deletes old runs about every hour, until the signal aborts. */
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
    /** Whole days, as for results. */
    readonly retentionDays: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const sweeps = {
    failure: 'expired runs could not be removed',
    sweep: () => sweepCheckRuns(store),
    deleteEveryMs: DELETE_EVERY_MS,
    deleteOld: (ending: AbortSignal) => deleteCheckRuns(store, retentionDays, ending),
  };
  await runSweeps({ clock, log }, sweeps, signal);
}

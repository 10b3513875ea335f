import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { runSweeps } from '../check-runs/sweeps.ts';
import type { Store } from '../database/store.ts';
import { deleteOldTrials, expireTrials } from './expiry.sql.ts';
import { EXPIRED } from './reasons.ts';

/** How long a trial waits for an agent. */
export const TRIAL_WINDOW_MS = 30_000;
/** How long trials can be read. */
export const TRIAL_RETENTION_MS = 3_600_000;
/** An attempt takes 30 s, and is repeated while the agent is short of CPU. */
const RUNNING_MS = 120_000;
const DELETE_EVERY_MS = 60_000;
const BATCH = 500;

/** Expires all overdue trials once. Safe on several replicas. @returns how many */
export async function sweepTrials(store: Store): Promise<number> {
  const batch = { reasons: EXPIRED, runningMs: RUNNING_MS, limit: BATCH };
  let swept = 0;
  for (;;) {
    const expired = await expireTrials(store, batch);
    swept += expired;
    if (expired < BATCH) return swept;
  }
}

/** Deletes trials that are no longer shown. */
export async function deleteTrials(store: Store, signal: AbortSignal): Promise<void> {
  const old = { olderThanMs: TRIAL_RETENTION_MS, limit: BATCH };
  while (!signal.aborted && (await deleteOldTrials(store, old)) === BATCH);
}

/** Sweeps about every second, and deletes old trials about every minute, until the signal aborts. */
export async function runTrialExpiry(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const sweeps = {
    failure: 'expired trials of checks could not be ended',
    sweep: () => sweepTrials(store),
    deleteEveryMs: DELETE_EVERY_MS,
    deleteOld: (ending: AbortSignal) => deleteTrials(store, ending),
  };
  await runSweeps({ clock, log }, sweeps, signal);
}

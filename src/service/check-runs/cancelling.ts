import type { Sql } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import { lockSubjects } from '../results/shared.sql.ts';
import {
  type CancellableRun,
  findCancellable,
  findRunKeys,
  lockAttempts,
  markCancelled,
} from './cancelling.sql.ts';

/**
 * The outcome of a request to cancel a run.
 *
 * - `cancelled`: also if it was cancelled before
 * - `ended`: its result is stored, or no agent ran it in time
 * - `scheduled`: it is a retry of a scheduled run, which nobody requested
 * - `unknown`: the account has no such run
 */
export type CancelOutcome = 'cancelled' | 'ended' | 'scheduled' | 'unknown';

/**
 * Cancels those of the account's runs on request that have not ended, whichever location has them now.
 * Wakes the polls of the agents that have them, when the transaction ends.
 *
 * Locks the checks first, like the intake of results: a run has either a result that was stored before
 * and counts, or one that is cancelled.
 *
 * @param tx a transaction
 * @returns the outcome of each id
 */
export async function cancelRuns(
  tx: Sql,
  accountId: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, CancelOutcome>> {
  const outcomes = new Map<string, CancelOutcome>(runIds.map((id) => [id, 'unknown']));
  const runs = await findRunKeys(tx, { accountId, ids: runIds });
  if (runs.length === 0) return outcomes;
  const checkIds = [...new Set(runs.map(({ checkId }) => checkId))];
  await lockSubjects(tx, { accountId, checkIds });
  await lockAttempts(tx, { accountId, runs });
  const found = await findCancellable(tx, { accountId, ids: runIds });
  const open = found.filter((run) => outcomeOf(run) === 'cancelled' && !run.isCancelled);
  if (open.length > 0) await markCancelled(tx, { accountId, runs: open });
  for (const run of found) outcomes.set(run.id, outcomeOf(run));
  return outcomes;
}

function outcomeOf({ isRequested, isCancelled, isOpen }: CancellableRun): CancelOutcome {
  if (isCancelled) return 'cancelled';
  if (!isRequested) return 'scheduled';
  return isOpen ? 'cancelled' : 'ended';
}

/** @throws ServiceError 404 without the run; 409 with the attribute `reason`: `ended` or `scheduled` */
export async function cancelRun(tx: Sql, accountId: string, id: string): Promise<void> {
  const outcome = (await cancelRuns(tx, accountId, [id])).get(id);
  if (outcome === 'cancelled') return;
  if (outcome === 'ended') {
    throw conflict('The run has ended already: its outcome stays', { reason: 'ended' });
  }
  if (outcome === 'scheduled') {
    const message =
      'The run is a retry of a scheduled one: only runs that were requested can be cancelled';
    throw conflict(message, { reason: 'scheduled' });
  }
  throw notFound('check run');
}

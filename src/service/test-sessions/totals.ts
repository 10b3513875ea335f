import { runResultOf } from '../../model/result/run-result.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { MissedRun, SessionTotals } from './sql.ts';

/** The limit for a check. Groups beyond it are only in the results of the session. */
const MAX_ERROR_GROUPS = 1_000;

/**
 * The totals of a session with new results.
 *
 * @param missed may contain runs that the session has already
 */
export function totalsWith(
  before: SessionTotals,
  results: readonly ReceivedResult[],
  missed: readonly MissedRun[],
): SessionTotals {
  const counts = { ...before.counts };
  const groups = new Set(before.errorGroupIds);
  let startedMs = before.startedAt?.getTime() ?? Number.POSITIVE_INFINITY;
  let stoppedMs = before.stoppedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  for (const result of results) {
    startedMs = Math.min(startedMs, Date.parse(result.startedAt));
    stoppedMs = Math.max(stoppedMs, Date.parse(result.stoppedAt));
    if (result.resultType === 'FINAL') counts[runResultOf(result)] += 1;
    for (const id of result.errorGroupIds) if (groups.size < MAX_ERROR_GROUPS) groups.add(id);
  }
  const runs = new Map([...before.missed, ...missed].map((run) => [keyOf(run), run]));
  return {
    counts,
    results: before.results + results.length,
    missed: [...runs.values()],
    errorGroupIds: [...groups],
    startedAt: Number.isFinite(startedMs) ? new Date(startedMs) : null,
    stoppedAt: Number.isFinite(stoppedMs) ? new Date(stoppedMs) : null,
  };
}

function keyOf({ checkId, slot, lastSlot }: MissedRun): string {
  return JSON.stringify([checkId, slot, lastSlot]);
}

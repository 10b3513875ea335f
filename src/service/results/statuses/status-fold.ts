import { stateOfRun, withRun } from '../../../model/result/check-state.ts';
import { runResultOf } from '../../../model/result/run-result.ts';
import { certificateOf } from '../../../model/result/tls-facts.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import { lastErrorOf, laterError } from './last-error.ts';
import type { CheckStatus, KnownState } from './sql.ts';

/**
 * Computes the status of a check after new FINALs, and its state. FINALs that arrived too late to decide the
 * status still count for the state if they are not after its slot.
 *
 * @param current the FINALs that are recent enough to decide the status
 * @returns `before` itself if nothing changes
 */
export function statusAfterFinals(
  before: CheckStatus | null,
  finals: readonly ReceivedResult[],
  current: ReadonlySet<ReceivedResult>,
): CheckStatus | null {
  let status = before;
  for (const final of finals) if (current.has(final)) status = afterFinal(status, final);
  if (status === null) return null;
  const known = withFinals(before?.known ?? OUTDATED, finals, status.lastSlotMs);
  if (status === before && known === before.known) return before;
  // A write that does not change the version counts as a write of the previous release (see the trigger
  // check_statuses_outdated), so the version increases even if only other columns change.
  const version = known.version === null ? null : known.version + 1;
  return { ...status, known: { ...known, version } };
}

/** The state of a new row is outdated: there may be older results, of another check with the same id or from a spool. */
const OUTDATED: KnownState = { history: null, version: null, skippedSlotMs: null };

function withFinals(
  known: KnownState,
  finals: readonly ReceivedResult[],
  lastSlotMs: number,
): KnownState {
  const { version } = known;
  if (version === null) return known;
  let { history, skippedSlotMs } = known;
  if (skippedSlotMs !== null && skippedSlotMs <= lastSlotMs) return OUTDATED;
  for (const final of finals) {
    const state = stateOfRun(runResultOf(final));
    const slotMs = final.checkRunId;
    if (state === null) continue;
    if (slotMs > lastSlotMs) {
      skippedSlotMs = Math.min(skippedSlotMs ?? slotMs, slotMs);
      continue;
    }
    history = withRun(history, { state, slotMs });
    if (history === null) return OUTDATED;
  }
  const isSame = history === known.history && skippedSlotMs === known.skippedSlotMs;
  return isSame ? known : { history, skippedSlotMs, version };
}

/**
 * Computes the check's status after one more FINAL. The result depends neither on the order of FINALs nor on
 * repetitions:
 * - The run of the latest slot decides the status. If several locations ran the slot, the worst run decides,
 *   then the one whose location sorts first, then the slowest.
 * - The longest and the shortest run are over all runs without system errors.
 * - The certificate is that of the latest run that saw one.
 *
 * A cancelled run changes nothing.
 */
function afterFinal(before: CheckStatus | null, final: ReceivedResult): CheckStatus | null {
  if (final.isCancelled) return before;
  const own = ownStatusOf(final);
  if (before === null) return own;
  const latest = ownOrder(own, before) > 0 ? own : before;
  const certificate =
    own.sslSlotMs !== null && (before.sslSlotMs === null || certificateOrder(own, before) > 0)
      ? own
      : before;
  return {
    ...latest,
    longestRun: extreme(Math.max, before.longestRun, own.longestRun),
    shortestRun: extreme(Math.min, before.shortestRun, own.shortestRun),
    sslDaysRemaining: certificate.sslDaysRemaining,
    sslSlotMs: certificate.sslSlotMs,
    lastError: laterError(before.lastError, own.lastError),
    known: before.known,
  };
}

/** The status of a check that ran once. */
function ownStatusOf(final: ReceivedResult): CheckStatus {
  const daysRemaining = daysRemainingOf(final);
  // With a system error the response time says nothing about the target.
  const run = final.hasErrors ? null : final.responseTime;
  return {
    checkId: final.checkId,
    name: final.name,
    hasFailures: final.hasFailures,
    hasErrors: final.hasErrors,
    isDegraded: final.isDegraded,
    longestRun: run,
    shortestRun: run,
    lastRunLocation: final.runLocation,
    lastCheckRunId: String(final.checkRunId),
    lastSlotMs: final.checkRunId,
    sslDaysRemaining: daysRemaining,
    sslSlotMs: daysRemaining === null ? null : final.checkRunId,
    lastResponseTime: run,
    lastError: lastErrorOf(final),
    known: OUTDATED,
  };
}

function daysRemainingOf(final: ReceivedResult): number | null {
  return certificateOf(final)?.daysRemaining ?? null;
}

/** Positive if the first decides the status. */
function ownOrder(one: CheckStatus, other: CheckStatus): number {
  return (
    one.lastSlotMs - other.lastSlotMs ||
    Number(one.hasFailures) - Number(other.hasFailures) ||
    Number(one.hasErrors) - Number(other.hasErrors) ||
    Number(one.isDegraded) - Number(other.isDegraded) ||
    compare(other.lastRunLocation, one.lastRunLocation) ||
    (one.lastResponseTime ?? 0) - (other.lastResponseTime ?? 0)
  );
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Positive if the certificate of the first counts: it was seen later, or else expires first. */
function certificateOrder(one: CheckStatus, other: CheckStatus): number {
  return (
    (one.sslSlotMs ?? 0) - (other.sslSlotMs ?? 0) ||
    (other.sslDaysRemaining ?? 0) - (one.sslDaysRemaining ?? 0)
  );
}

function extreme(
  pick: (one: number, other: number) => number,
  one: number | null,
  other: number | null,
): number | null {
  if (one === null || other === null) return one ?? other;
  return pick(one, other);
}

import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { CheckStatus } from './sql.ts';

/**
 * The check's status after one more FINAL. Whatever the order in which FINALs come in time, and however
 * often each comes, they end in the same status:
 * - The run of the latest slot says how the check does. Of runs of one slot in several locations
 *   it is the one that did worst, then the one whose location comes first.
 * - The longest and the shortest run are over all that judge the target.
 * - The certificate is that of the latest run that saw one.
 *
 * A cancelled run judges nothing and changes nothing.
 */
export function afterFinal(before: CheckStatus | null, final: ReceivedResult): CheckStatus | null {
  if (final.isCancelled) return before;
  const own = ownStatusOf(final);
  if (before === null) return own;
  const latest = ownOrder(own, before) > 0 ? own : before;
  const certificate =
    own.sslSlotMs !== null && (before.sslSlotMs === null || bySight(own, before) > 0)
      ? own
      : before;
  return {
    ...latest,
    longestRun: extreme(Math.max, before.longestRun, own.longestRun),
    shortestRun: extreme(Math.min, before.shortestRun, own.shortestRun),
    sslDaysRemaining: certificate.sslDaysRemaining,
    sslSlotMs: certificate.sslSlotMs,
  };
}

/** The status of a check that ran once. */
function ownStatusOf(final: ReceivedResult): CheckStatus {
  const daysRemaining = daysRemainingOf(final);
  // A run that failed by our own fault took no time of the target's.
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
  };
}

function daysRemainingOf({ apiCheckResult: detail }: ReceivedResult): number | null {
  const tls = detail?.response?.tls ?? detail?.tls;
  return tls?.certificate?.daysRemaining ?? null;
}

/** Above 0 where the first is the one that says how the check does. */
function ownOrder(one: CheckStatus, other: CheckStatus): number {
  return (
    one.lastSlotMs - other.lastSlotMs ||
    Number(one.hasFailures) - Number(other.hasFailures) ||
    Number(one.hasErrors) - Number(other.hasErrors) ||
    Number(one.isDegraded) - Number(other.isDegraded) ||
    (one.lastRunLocation < other.lastRunLocation ? 1 : -1)
  );
}

/** Above 0 where the certificate of the first counts: the later one, then the one that ends first. */
function bySight(one: CheckStatus, other: CheckStatus): number {
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

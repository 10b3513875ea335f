import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { CheckStatus } from './sql.ts';

/**
 * The check's status after one more FINAL. The result depends neither on the order of the FINALs nor on
 * repetitions:
 * - The run of the latest slot decides the status. Of runs of one slot in several locations it is the
 *   worst, then the one whose location sorts first.
 * - The longest and the shortest run are over all runs without system errors.
 * - The certificate is that of the latest run that saw one.
 *
 * A cancelled run changes nothing.
 */
export function afterFinal(before: CheckStatus | null, final: ReceivedResult): CheckStatus | null {
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
  };
}

function daysRemainingOf({ apiCheckResult: detail }: ReceivedResult): number | null {
  const tls = detail?.response?.tls ?? detail?.tls;
  return tls?.certificate?.daysRemaining ?? null;
}

/** Above 0 where the first decides the status. */
function ownOrder(one: CheckStatus, other: CheckStatus): number {
  return (
    one.lastSlotMs - other.lastSlotMs ||
    Number(one.hasFailures) - Number(other.hasFailures) ||
    Number(one.hasErrors) - Number(other.hasErrors) ||
    Number(one.isDegraded) - Number(other.isDegraded) ||
    (one.lastRunLocation < other.lastRunLocation ? 1 : -1)
  );
}

/** Above 0 where the certificate of the first counts: seen later, or else expiring first. */
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

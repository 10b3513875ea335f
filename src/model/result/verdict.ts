import type { Check } from '../check/check.ts';
import { type Failure, isOwnFault, isSettingsFault } from './error-codes.ts';

/** The facts of an attempt for its verdict. */
export interface Observation {
  readonly failure: Failure | null;
  /** The value that thresholds are compared with. */
  readonly responseTimeMs: number;
  /**
   * The check type's own criterion (src/model/README.md, "What passes and what fails"):
   * - `met`: status below 400, reachable, NOERROR, loss under the maximum
   * - `unmet`: the opposite, or no response
   * - `decided`: an assertion of the user replaces it
   */
  readonly criterion: 'met' | 'unmet' | 'decided';
  readonly answered: boolean;
  readonly assertionsFailed: boolean;
  /** Percent; null for all types but ICMP. */
  readonly packetLossPercent: number | null;
}

export interface Verdict {
  readonly hasFailures: boolean;
  readonly hasErrors: boolean;
  readonly isDegraded: boolean;
  readonly overMaxResponseTime: boolean;
}

const OWN_FAULT: Verdict = {
  hasFailures: false,
  hasErrors: true,
  isDegraded: false,
  overMaxResponseTime: false,
};

/**
 * The verdict on one attempt (src/model/README.md, "What passes and what fails"). A fault of the
 * agent is an error, not a failure: nothing is known about the target.
 */
export function verdictOf(check: Check, seen: Observation): Verdict {
  if (seen.failure !== null && isOwnFault(seen.failure.code)) return OWN_FAULT;
  const level = thresholdLevel(check, seen);
  const overMaxResponseTime = level === 'over-max';
  return {
    hasFailures: criterionFails(check, seen) || seen.assertionsFailed || overMaxResponseTime,
    hasErrors: false,
    isDegraded: level === 'over-degraded' || degradedByLoss(check, seen),
    overMaxResponseTime,
  };
}

/**
 * The verdict on one attempt whose time is uncertain; null if the verdicts for its possible times
 * differ. An attempt that fails for all of the times fails; it is too slow only if it is too slow
 * for the last, which is the shortest.
 */
export function commonVerdict(verdicts: readonly Verdict[]): Verdict | null {
  const last = verdicts.at(-1);
  if (last === undefined) return null;
  const { hasFailures, hasErrors, isDegraded } = last;
  const agree = verdicts.every(
    (each) =>
      each.hasFailures === hasFailures &&
      each.hasErrors === hasErrors &&
      (hasFailures || each.isDegraded === isDegraded),
  );
  return agree ? last : null;
}

function criterionFails(check: Check, seen: Observation): boolean {
  if (seen.failure !== null && isSettingsFault(seen.failure.code)) return true;
  if (check.shouldFail) return seen.criterion === 'met';
  return seen.criterion === 'unmet' || seen.failure !== null;
}

/**
 * null for a check with shouldFail that got no response: it met its expectation, and its time is
 * not a response time.
 */
function thresholdLevel(check: Check, seen: Observation): 'over-max' | 'over-degraded' | null {
  if (check.checkType === 'ICMP') return null;
  if (check.shouldFail && !seen.answered) return null;
  const { maxResponseTime, degradedResponseTime } = check;
  if (maxResponseTime !== null && seen.responseTimeMs > maxResponseTime) return 'over-max';
  if (degradedResponseTime !== null && seen.responseTimeMs > degradedResponseTime) {
    return 'over-degraded';
  }
  return null;
}

/** An ICMP check with shouldFail expects loss, so loss cannot degrade it. */
function degradedByLoss(check: Check, seen: Observation): boolean {
  if (check.checkType !== 'ICMP' || check.shouldFail || seen.packetLossPercent === null) {
    return false;
  }
  return (
    seen.packetLossPercent >= check.degradedPacketLossThreshold &&
    seen.packetLossPercent < check.maxPacketLossThreshold
  );
}

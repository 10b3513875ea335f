import type { Check } from '../../model/check.ts';
import { resultIdOf, sequenceIdOf } from '../../model/ids.ts';
import type { CheckResult, ResultType } from '../../model/result.ts';
import type { Attempt } from './attempt.ts';

export interface ResultPlace {
  readonly location: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  /** Retries made before this attempt. */
  readonly retriesMade: number;
  readonly resultType: ResultType;
}

/** The specification's result object (2.4) of one attempt. */
export function resultOf(check: Check, attempt: Attempt, place: ResultPlace): CheckResult {
  const sequenceId = sequenceIdOf(check.id, place.location, place.slotMs);
  const stoppedAt = new Date(attempt.startedAtMs + attempt.durationMs).toISOString();
  return {
    resultType: place.resultType,
    id: resultIdOf(sequenceId, place.retriesMade + 1),
    name: check.name,
    checkId: check.id,
    checkType: check.checkType,
    ...attempt.verdict,
    isCancelled: false,
    runLocation: place.location,
    startedAt: new Date(attempt.startedAtMs).toISOString(),
    stoppedAt,
    created_at: stoppedAt,
    responseTime: attempt.responseTimeMs,
    apiCheckResult: null,
    tcpCheckResult: null,
    dnsCheckResult: null,
    icmpCheckResult: null,
    ...attempt.details,
    browserCheckResult: null,
    multiStepCheckResult: null,
    agenticCheckResult: null,
    checkRunId: place.slotMs,
    attempts: place.retriesMade,
    sequenceId,
    errorGroupIds: [],
  };
}

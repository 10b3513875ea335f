import type { Check } from '../../model/check/check.ts';
import { resultIdOf } from '../../model/ids.ts';
import type { CheckResult, ResultType } from '../../model/result/result.ts';
import type { ReportedEvidence } from '../evidence/evidence-budget.ts';
import type { Attempt } from './attempt.ts';
import { CANCELLED_VERDICT } from './cancellation.ts';

export interface ResultContext extends RunName {
  readonly resultId: string;
  /** Retries made before this attempt. */
  readonly retriesMade: number;
  readonly resultType: ResultType;
  readonly jobAssets: readonly string[];
  readonly evidence: ReportedEvidence;
  /** The run was cancelled on request. */
  readonly isCancelled: boolean;
}

/** The id of an attempt's result. */
export function resultIdIn({ sequenceId }: RunName, retriesMade: number): string {
  return resultIdOf(sequenceId, retriesMade + 1);
}

/** Identifies a run and its results. */
export interface RunName {
  /** Where the attempt is made. A handed over run keeps the sequence id of its first location. */
  readonly location: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly sequenceId: string;
}

/** The result of one attempt: src/model/README.md, "Results". */
export function toCheckResult(check: Check, attempt: Attempt, context: ResultContext): CheckResult {
  const stoppedAt = new Date(attempt.startedAtMs + attempt.durationMs).toISOString();
  return {
    resultType: context.resultType,
    id: context.resultId,
    name: check.name,
    checkId: check.id,
    checkType: check.checkType,
    ...(context.isCancelled ? CANCELLED_VERDICT : attempt.verdict),
    isCancelled: context.isCancelled,
    runLocation: context.location,
    startedAt: new Date(attempt.startedAtMs).toISOString(),
    stoppedAt,
    created_at: stoppedAt,
    responseTime: attempt.responseTimeMs,
    apiCheckResult: null,
    tcpCheckResult: null,
    dnsCheckResult: null,
    icmpCheckResult: null,
    ...attempt.detail(context),
    browserCheckResult: null,
    multiStepCheckResult: null,
    agenticCheckResult: null,
    checkRunId: context.slotMs,
    attempts: context.retriesMade,
    sequenceId: context.sequenceId,
    errorGroupIds: [],
  };
}

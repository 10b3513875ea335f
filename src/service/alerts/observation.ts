import type { Condition } from '../../model/alerting/alert.ts';
import { adviceOf } from '../../model/result/advice.ts';
import { rootMessageOf } from '../../model/result/failure-message.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { detailOf } from '../../model/result/result-summary.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { certificateOf } from '../../model/result/tls-facts.ts';
import { cutText } from '../../runtime/text/cut-text.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';

/** Where and why a run failed or was degraded, besides its error. */
export interface FailureFacts {
  /** The error code; null without one, for example if an assertion failed. */
  readonly code: string | null;
  /** Such as `dns` or `response`. */
  readonly phase: string;
  /** What to try first. */
  readonly advice: string;
}

/** One judged run, or one state of a heartbeat. */
export interface AlertObservation {
  readonly checkId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  /** Where it was run. */
  readonly location: string;
  readonly condition: Condition;
  /** Milliseconds. */
  readonly responseTime: number;
  /** Why it fails or is degraded; of a result at most MAX_ERROR_BYTES. */
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly sslDaysRemaining: number | null;
  /** Left out for a run that passed, and for a heartbeat. */
  readonly failure?: FailureFacts;
  /** The result; left out for a heartbeat. */
  readonly result?: { readonly id: string; readonly sequenceId: string };
}

const CONDITION_OF = {
  passed: 'passing',
  degraded: 'degraded',
  failed: 'failing',
  error: null,
  cancelled: null,
} as const;

/** @returns null for a result without a verdict: an error of the agent or a cancelled run */
export function observationOf(result: ReceivedResult): AlertObservation | null {
  const condition = CONDITION_OF[runResultOf(result)];
  if (condition === null) return null;
  const http = result.apiCheckResult;
  const failure = failureOf(result);
  return {
    checkId: result.checkId,
    slotMs: result.checkRunId,
    location: result.runLocation,
    condition,
    responseTime: result.responseTime,
    error: errorOf(result, condition),
    statusCode: http?.response ? String(http.response.status) : null,
    startedAtMs: Date.parse(result.startedAt),
    sslDaysRemaining: certificateOf(result)?.daysRemaining ?? null,
    result: { id: result.id, sequenceId: result.sequenceId },
    ...(failure === null ? {} : { failure }),
  };
}

function failureOf(result: ReceivedResult): FailureFacts | null {
  // `adviceOf` accepts codes of newer agents.
  const advised = adviceOf(result as CheckResult);
  if (advised === null) return null;
  const { phase, advice } = advised;
  return { code: detailOf(result)?.requestErrorCode ?? null, phase, advice };
}

/** Every notice contains the error, and that of an assertion can quote much of a body. */
const MAX_ERROR_BYTES = 4096;

function errorOf(result: ReceivedResult, condition: Condition): string | null {
  const error = condition === 'degraded' ? slownessOf(result) : rootMessageOf(result);
  return error === null ? null : cutText(error, MAX_ERROR_BYTES);
}

function slownessOf({ icmpCheckResult, responseTime }: ReceivedResult): string {
  const loss = icmpCheckResult?.response?.packetLoss;
  if (loss !== undefined) return `${loss} % of the echo requests were lost`;
  return `The response time of ${Math.round(responseTime)} ms was over degradedResponseTime`;
}

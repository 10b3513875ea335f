import type { Condition } from '../../model/alerting/alert.ts';
import { rootMessageOf } from '../../model/result/failure-message.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { cutText } from '../../runtime/text/cut-text.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';

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
  /** Why it fails or is degraded; from a result 4 KB at most. */
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly sslDaysRemaining: number | null;
  /** What stores it, where it is a result: its run may have come before others that are stored. */
  readonly result?: { readonly id: string; readonly sequenceId: string };
}

const CONDITION_OF = {
  passed: 'passing',
  degraded: 'degraded',
  failed: 'failing',
  error: null,
  cancelled: null,
} as const;

/** @returns null for a result that judges nothing */
export function observationOf(result: ReceivedResult): AlertObservation | null {
  const condition = CONDITION_OF[runResultOf(result)];
  if (condition === null) return null;
  const http = result.apiCheckResult;
  const certificate = (http?.response?.tls ?? http?.tls)?.certificate;
  return {
    checkId: result.checkId,
    slotMs: result.checkRunId,
    location: result.runLocation,
    condition,
    responseTime: result.responseTime,
    error: errorOf(result, condition),
    statusCode: http?.response ? String(http.response.status) : null,
    startedAtMs: Date.parse(result.startedAt),
    sslDaysRemaining: certificate?.daysRemaining ?? null,
    result: { id: result.id, sequenceId: result.sequenceId },
  };
}

/** It goes with every notice, and an assertion's can hold a good part of a body. */
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

import type { Failure } from '../../model/result/error-codes.ts';
import type { Verdict } from '../../model/result/verdict.ts';

/** The reason with which the signal of a run aborts that a user cancelled. */
export const RUN_CANCELLED = Symbol('run cancelled');

/** False if the signal has not aborted, or aborted because the agent stops. */
export function isRunCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason === RUN_CANCELLED;
}

/** In place of the failure with which the probe ended: that of an agent that stops. */
export const CANCELLED_ON_REQUEST: Failure = {
  code: 'CANCELLED',
  message: 'The run was cancelled on request',
};

/** A cancelled run says nothing about the target. */
export const CANCELLED_VERDICT: Verdict = {
  hasFailures: false,
  hasErrors: false,
  isDegraded: false,
  overMaxResponseTime: false,
};

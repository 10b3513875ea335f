import type { Failure } from '../../model/result/error-codes.ts';
import type { Verdict } from '../../model/result/verdict.ts';

/** The abort reason of the signal of a run that a user cancelled. */
export const RUN_CANCELLED = Symbol('run cancelled');

/** False if the signal has not aborted, or aborted because the agent stops. */
export function isRunCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason === RUN_CANCELLED;
}

/** Replaces the failure of the probe, which says that the agent stops. */
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

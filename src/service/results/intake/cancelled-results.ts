import type { ReceivedResult } from '../../../wire/v1/check-result.ts';

/** Names of runs, by `runNameOf`. */
export type CancelledRuns = ReadonlySet<string>;

export function runNameOf(run: { readonly checkId: string; readonly sequenceId: string }): string {
  return JSON.stringify([run.checkId, run.sequenceId]);
}

/**
 * The FINAL of a cancelled run has no verdict: its agent may have ended it before it heard of that. The
 * response and its assertions stay as they were.
 */
export function asCancelled(result: ReceivedResult, cancelled: CancelledRuns): ReceivedResult {
  if (result.resultType !== 'FINAL' || !cancelled.has(runNameOf(result))) return result;
  return {
    ...result,
    isCancelled: true,
    hasFailures: false,
    hasErrors: false,
    isDegraded: false,
    overMaxResponseTime: false,
  };
}

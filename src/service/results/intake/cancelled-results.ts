import type { ReceivedResult } from '../../../wire/v1/check-result.ts';

/** Names of runs, by `runNameOf`. */
export type CancelledRuns = ReadonlySet<string>;

export function runNameOf(run: { readonly checkId: string; readonly sequenceId: string }): string {
  return JSON.stringify([run.checkId, run.sequenceId]);
}

/**
 * Removes the verdict from the FINAL of a cancelled run: its agent may have ended the run before it learned of
 * the cancellation. Keeps the response and its assertions.
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

import type { CheckResult } from './result.ts';

/** How a run ended, in one word. */
export const RUN_RESULTS = ['passed', 'degraded', 'failed', 'error', 'cancelled'] as const;
export type RunResult = (typeof RUN_RESULTS)[number];

/** A cancelled run or a fault of the agent is not a failure, whatever else the result says. */
export function runResultOf(
  result: Pick<CheckResult, 'isCancelled' | 'hasErrors' | 'hasFailures' | 'isDegraded'>,
): RunResult {
  if (result.isCancelled) return 'cancelled';
  if (result.hasErrors) return 'error';
  if (result.hasFailures) return 'failed';
  return result.isDegraded ? 'degraded' : 'passed';
}

import type { RunResult } from '../../model/result/run-result.ts';
import { EXIT } from '../terminal.ts';

/** The number of checks of `vedette run` by outcome. */
export type RunCounts = Record<RunResult | 'missed', number>;

export function noRunsYet(): RunCounts {
  return { passed: 0, degraded: 0, failed: 0, error: 0, cancelled: 0, missed: 0 };
}

/** Whether every check passed; degraded ones count as passed. */
export function allPassed({ failed, error, cancelled, missed }: Readonly<RunCounts>): boolean {
  return failed + error + cancelled + missed === 0;
}

/** The facts that decide the exit code of `vedette run`: see the table of exit codes in README.md. */
export interface RunOutcome {
  readonly counts: Readonly<RunCounts>;
  /** The exit code of what interrupted the run; null if nothing did. */
  readonly interruptedWith: number | null;
  /** False if the results could not be sent to the service or written to the file. */
  readonly isReported: boolean;
}

export function exitCodeOf({ counts, interruptedWith, isReported }: RunOutcome): number {
  if (interruptedWith !== null) return interruptedWith;
  if (!allPassed(counts)) return EXIT.failed;
  return isReported ? EXIT.ok : EXIT.unusable;
}

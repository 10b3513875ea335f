import type { PartContext } from '../part.ts';
import type { Errors } from './packet-times.ts';

/** What came of one condition in one round. */
export interface Outcome {
  readonly errors: Errors;
  /** Slots of the window. */
  readonly due: number;
  /** Of these, without a result. */
  readonly missed: number;
  /** Results that say themselves that their times are not exact. */
  readonly uncertain: number;
}

/** Milliseconds. */
export interface Pace {
  /** Of a process that has just started. */
  readonly warmUpMs: number;
  /** From the beginning of a condition until it counts. */
  readonly settleMs: number;
  readonly windowMs: number;
  /** So long at most for the results of the window's last slots. */
  readonly resultsMs: number;
}

export function paceOf({ short }: Pick<PartContext, 'short'>): Pace {
  return short
    ? { warmUpMs: 300, settleMs: 100, windowMs: 600, resultsMs: 2_000 }
    : { warmUpMs: 5_000, settleMs: 1_500, windowMs: 8_000, resultsMs: 4_000 };
}

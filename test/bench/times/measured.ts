import type { PartContext } from '../part.ts';
import type { Errors } from './packet-times.ts';

/** The measurements of one condition in one round. */
export interface Outcome {
  readonly errors: Errors;
  /** Slots in the window. */
  readonly due: number;
  /** Slots in the window without a result. */
  readonly missed: number;
  /** Results whose `timing` says that their times are not exact. */
  readonly uncertain: number;
}

/** Milliseconds. */
export interface Pace {
  /** Warm-up of a process that has just started. */
  readonly warmUpMs: number;
  /** From the start of a condition to the start of its window. */
  readonly settleMs: number;
  readonly windowMs: number;
  /** The longest wait for the results of the window's last slots, unless the agent reports them missed. */
  readonly resultsMs: number;
}

export function paceOf({ short }: Pick<PartContext, 'short'>): Pace {
  return short
    ? // A process that is not warm yet takes seconds for a burst on a busy machine.
      { warmUpMs: 300, settleMs: 100, windowMs: 600, resultsMs: 20_000 }
    : { warmUpMs: 5_000, settleMs: 1_500, windowMs: 8_000, resultsMs: 4_000 };
}

import type { SlotRange } from '../../model/schedule/slot-range.ts';
import { lastSlotAt, nextSlotAfter, type SlotRule } from '../../model/schedule/slot-rule.ts';
import { type Interval, IntervalSet } from './interval-set.ts';
import type { ClockInterval } from './sleep-and-clock-steps.ts';
import { MAX_TOLERANCE_MS } from './start-tolerance.ts';

/** If the clock is set more often than this, the farthest time is forgotten. */
const MAX_INTERVALS = 32;

/**
 * Remembers which times of the wall clock are covered: after the clock was set back, no slot runs
 * or is reported twice (src/model/README.md, "When checks run"), and slots of a time that the clock
 * skipped run when that time comes.
 *
 * All checks share it: a check that was added later skips its slots of covered times, too.
 */
export class TimeCoverage {
  /** These slots were run, or missed while the agent was running: they never run again. */
  readonly #covered = new IntervalSet(MAX_INTERVALS);
  /** The covered slots, and those that the clock skipped: they are not reported again. */
  readonly #accounted = new IntervalSet(MAX_INTERVALS);

  /** Adds an interval whose slots were all run or reported. */
  commit({ fromMs, toMs, reason }: ClockInterval): void {
    this.#accounted.add(fromMs, toMs);
    // Skipped slots were reported, but still run if the clock is set back. Only the latest, within
    // the tolerance of the new time, may have run already.
    const coveredFromMs = reason === 'clock_jump' ? toMs - MAX_TOLERANCE_MS : fromMs;
    this.#covered.add(Math.max(fromMs, coveredFromMs), toMs);
  }

  /** Whether slots at the instant do not run any more. */
  isCovered(instantMs: number): boolean {
    return this.#covered.endAround(instantMs) !== null;
  }

  /** Whether slots at the instant are not reported any more. */
  isReported(instantMs: number): boolean {
    return this.#accounted.endAround(instantMs) !== null;
  }

  /** Whether all instants between the two are covered. */
  isAllCovered(fromMs: number, toMs: number): boolean {
    return this.#covered.holesIn(fromMs, toMs).length === 0;
  }

  /** The first slot after the instant that is still to be run. */
  nextSlotAfter(rule: SlotRule, instantMs: number): number {
    let slotMs = nextSlotAfter(rule, instantMs);
    for (;;) {
      const endMs = this.#covered.endAround(slotMs);
      if (endMs === null) return slotMs;
      slotMs = nextSlotAfter(rule, endMs);
    }
  }

  /** The unreported slots from `firstMs` to `lastMs` (both are slots). */
  unreported(rule: SlotRule, firstMs: number, lastMs: number): readonly SlotRange[] {
    return this.#accounted
      .holesIn(firstMs - 1, lastMs)
      .map((hole) => slotsIn(rule, hole))
      .filter(({ count }) => count > 0);
  }
}

/** Computes the count without a loop: a clock that is set years forward skips millions of slots. */
function slotsIn(rule: SlotRule, { fromMs, toMs }: Interval): SlotRange {
  const slot = nextSlotAfter(rule, fromMs);
  const lastSlot = lastSlotAt(rule, toMs);
  return { slot, lastSlot, count: (lastSlot - slot) / rule.periodMs + 1 };
}

import { lastSlotAt, nextSlotAfter, type SlotRule } from '../../model/schedule/frequency.ts';
import type { ClockInterval } from './clock-interval.ts';
import { type Interval, IntervalSet } from './interval-set.ts';
import { MAX_TOLERANCE_MS } from './start-tolerance.ts';

/** A clock that is set to and fro more often than this makes the agent forget the farthest time. */
const MAX_INTERVALS = 32;

/** Consecutive slots of one check. */
export interface SlotRange {
  readonly slot: number;
  readonly lastSlot: number;
  readonly count: number;
}

/**
 * Remembers which times of the wall clock were dealt with, so that a clock set back runs no slot
 * twice and reports none twice (src/model/README.md, "When checks run"), and yet the slots of a
 * time that was never lived are run, even where the clock once showed a later one.
 *
 * It is kept once for all checks: a check that was added later skips its slots of a time that was
 * lived before, too.
 */
export class LivedTime {
  /** Slots in here were run, or were missed while the agent looked on: they never run again. */
  readonly #lived = new IntervalSet(MAX_INTERVALS);
  /** These, and the slots over which the clock was set forward: they are not reported again. */
  readonly #accounted = new IntervalSet(MAX_INTERVALS);

  /** Notes a stretch of which every slot was run or reported. */
  commit({ fromMs, toMs, reason }: ClockInterval): void {
    this.#accounted.add(fromMs, toMs);
    // Slots leapt over were reported, but should the clock be set right again they are still to
    // come; only the latest, within the tolerance of the new time, may have been run.
    const livedFromMs = reason === 'clock_jump' ? toMs - MAX_TOLERANCE_MS : fromMs;
    this.#lived.add(Math.max(fromMs, livedFromMs), toMs);
  }

  /** Whether slots at the instant are not run any more. */
  isLived(instantMs: number): boolean {
    return this.#lived.endAround(instantMs) !== null;
  }

  /** Whether slots at the instant are not reported any more. */
  isReported(instantMs: number): boolean {
    return this.#accounted.endAround(instantMs) !== null;
  }

  /** Whether all instants between the two were lived. */
  isLivedThrough(fromMs: number, toMs: number): boolean {
    return this.#lived.holesIn(fromMs, toMs).length === 0;
  }

  /** The first slot after the instant that is still to be run. */
  nextSlotAfter(rule: SlotRule, instantMs: number): number {
    let slotMs = nextSlotAfter(rule, instantMs);
    for (;;) {
      const endMs = this.#lived.endAround(slotMs);
      if (endMs === null) return slotMs;
      slotMs = nextSlotAfter(rule, endMs);
    }
  }

  /** The slots from `firstMs` to `lastMs` (both are slots) of which nothing was reported yet. */
  unreported(rule: SlotRule, firstMs: number, lastMs: number): readonly SlotRange[] {
    return this.#accounted
      .holesIn(firstMs - 1, lastMs)
      .map((hole) => slotsIn(rule, hole))
      .filter(({ count }) => count > 0);
  }
}

/** By arithmetic, since a clock set forward by years leaps over millions of slots. */
function slotsIn(rule: SlotRule, { fromMs, toMs }: Interval): SlotRange {
  const slot = nextSlotAfter(rule, fromMs);
  const lastSlot = lastSlotAt(rule, toMs);
  return { slot, lastSlot, count: (lastSlot - slot) / rule.periodMs + 1 };
}

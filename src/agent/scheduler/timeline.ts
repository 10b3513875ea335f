import type { SlotRange } from '../../model/schedule/slot-range.ts';
import type { SlotRule } from '../../model/schedule/slot-rule.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type ClockInterval,
  intervalBetween,
  type Reading,
  readClock,
} from '../slots/sleep-and-clock-steps.ts';
import { TimeCoverage } from '../slots/time-coverage.ts';

/**
 * Cuts the wall clock's time into stretches, each from the end of the one before up to now, and
 * remembers which times are done. A stretch stays open until the scheduler closes it.
 */
export class Timeline {
  readonly #clock: Clock;
  readonly #coverage = new TimeCoverage();
  /** All slots up to here are done. */
  #reached: Reading;
  #suspendedMs: number;
  #stretch: ClockInterval | null = null;
  #isRewound = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#reached = readClock(clock);
    this.#suspendedMs = clock.suspendedMs();
  }

  /** Starts now: slots at or before this instant are ignored. */
  begin(): void {
    this.#reached = readClock(this.#clock);
    this.#suspendedMs = this.#clock.suspendedMs();
  }

  /** The instant after which a check that is added now has its first slot. */
  get presentMs(): number {
    const wallMs = this.#clock.wallMs();
    return this.#stretch === null ? wallMs : Math.max(wallMs, this.#stretch.toMs);
  }

  /** Every slot up to this instant was taken. Wall clock, so it may go back. */
  get reachedMs(): number {
    return this.#reached.wallMs;
  }

  /** The open stretch. */
  get stretch(): ClockInterval | null {
    return this.#stretch;
  }

  /** The open stretch begins in a time that was not lived: next slots must be recomputed. */
  get isRewound(): boolean {
    return this.#isRewound;
  }

  open(): ClockInterval {
    const now = readClock(this.#clock);
    let stretch = intervalBetween(this.#reached, now, 0);
    if (stretch.isNotable) {
      // A system call, so only after a step: the machine may have slept.
      const suspendedMs = this.#clock.suspendedMs();
      const sleptMs = Math.max(0, suspendedMs - this.#suspendedMs);
      this.#suspendedMs = suspendedMs;
      stretch = intervalBetween(this.#reached, now, sleptMs);
    }
    const wallReachedMs = this.#reached.wallMs;
    this.#isRewound =
      stretch.fromMs < wallReachedMs && !this.#coverage.isAllCovered(stretch.fromMs, wallReachedMs);
    this.#stretch = stretch;
    return stretch;
  }

  /** Every slot of the open stretch was run or reported. */
  close(stretch: ClockInterval): void {
    this.#coverage.commit(stretch);
    this.#reached = { wallMs: stretch.toMs, monotonicMs: stretch.atMonotonicMs };
    this.#stretch = null;
  }

  isLived(instantMs: number): boolean {
    return this.#coverage.isCovered(instantMs);
  }

  isReported(instantMs: number): boolean {
    return this.#coverage.isReported(instantMs);
  }

  nextSlotAfter(rule: SlotRule, instantMs: number): number {
    return this.#coverage.nextSlotAfter(rule, instantMs);
  }

  unreported(rule: SlotRule, firstMs: number, lastMs: number): readonly SlotRange[] {
    return this.#coverage.unreported(rule, firstMs, lastMs);
  }
}

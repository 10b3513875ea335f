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
 * Divides the time of the wall clock into intervals, each from the end of the previous one until
 * now, and remembers which times are covered. An interval is open until the scheduler closes it.
 */
export class Timeline {
  readonly #clock: Clock;
  readonly #coverage = new TimeCoverage();
  /** All slots up to here are done. */
  #reached: Reading;
  #suspendedMs: number;
  #interval: ClockInterval | null = null;
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
    return this.#interval === null ? wallMs : Math.max(wallMs, this.#interval.toMs);
  }

  /** Every slot up to this instant was taken. Wall clock, so it may go back. */
  get reachedMs(): number {
    return this.#reached.wallMs;
  }

  /** The open interval. */
  get openInterval(): ClockInterval | null {
    return this.#interval;
  }

  /** Whether the open interval begins in a time that is not covered: recompute the next slots. */
  get isRewound(): boolean {
    return this.#isRewound;
  }

  open(): ClockInterval {
    const now = readClock(this.#clock);
    let interval = intervalBetween(this.#reached, now, 0);
    if (interval.isNotable) {
      // A system call, so only after a step: the machine may have slept.
      const suspendedMs = this.#clock.suspendedMs();
      const sleptMs = Math.max(0, suspendedMs - this.#suspendedMs);
      this.#suspendedMs = suspendedMs;
      interval = intervalBetween(this.#reached, now, sleptMs);
    }
    const wallReachedMs = this.#reached.wallMs;
    this.#isRewound =
      interval.fromMs < wallReachedMs &&
      !this.#coverage.isAllCovered(interval.fromMs, wallReachedMs);
    this.#interval = interval;
    return interval;
  }

  /** Every slot of the open interval was run or reported. */
  close(interval: ClockInterval): void {
    this.#coverage.commit(interval);
    this.#reached = { wallMs: interval.toMs, monotonicMs: interval.atMonotonicMs };
    this.#interval = null;
  }

  isCovered(instantMs: number): boolean {
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

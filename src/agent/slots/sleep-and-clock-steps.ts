import type { MissedReason } from '../../model/result/missed-slots.ts';
import type { Clock } from '../../runtime/clock.ts';

/** All clocks at one moment. */
export interface Reading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The instants of the wall clock that one tick of the scheduler accounts for. */
export interface ClockInterval {
  /** Slots after this instant are due in the interval … */
  readonly fromMs: number;
  /** … up to and including this one, which was the wall clock's time at `atMonotonicMs`. */
  readonly toMs: number;
  readonly atMonotonicMs: number;
  /** How far the wall clock was set, on top of the time that passed; below 0 when set back. */
  readonly stepMs: number;
  /** The step is larger than the corrections of time daemons. */
  readonly isNotable: boolean;
  /** Why slots of the interval that are too late now were not run in time. */
  readonly reason: Extract<MissedReason, 'agent_asleep' | 'clock_jump'>;
}

const NOTABLE_STEP_MS = 1000;

export function readClock(clock: Clock): Reading {
  return { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
}

/**
 * The interval between two readings.
 *
 * @param suspendedMs how long the machine slept in between, which the monotonic clock leaves out
 */
export function intervalBetween(before: Reading, now: Reading, suspendedMs: number): ClockInterval {
  const movedMs = now.wallMs - before.wallMs;
  const passedMs = now.monotonicMs - before.monotonicMs + suspendedMs;
  const stepMs = movedMs - passedMs;
  return {
    // A clock that was set back: the interval is the time that passed, up to the instant shown now.
    fromMs: stepMs < 0 ? now.wallMs - passedMs : before.wallMs,
    toMs: now.wallMs,
    atMonotonicMs: now.monotonicMs,
    stepMs,
    isNotable: Math.abs(stepMs) >= NOTABLE_STEP_MS,
    // The interval may contain a sleep and a step, in unknown order: the larger is the reason.
    reason: stepMs > passedMs ? 'clock_jump' : 'agent_asleep',
  };
}

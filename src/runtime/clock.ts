import { uptime } from 'node:os';

/** Ends a pending timer. Calling it after the timer fired, or twice, does nothing. */
export type CancelTimer = () => void;

/**
 * The only source of time. Slots are instants of the wall clock, which can step; every duration
 * and every wait is monotonic, which cannot.
 */
export interface Clock {
  /** UTC, milliseconds since the epoch. May jump either way. */
  wallMs(): number;
  /** Milliseconds with microsecond resolution since an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /**
   * How long the machine slept, in milliseconds since an arbitrary start and true to 10 ms: the
   * monotonic clock stands still meanwhile. Costs a system call.
   */
  suspendedMs(): number;
  /**
   * Calls `callback` once, after `delayMs` of monotonic time and never before (values below 0 count
   * as 0).
   */
  after(delayMs: number, callback: () => void): CancelTimer;
}

/** setTimeout's largest delay: beyond it Node fires at once, so longer waits take several timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // The uptime includes sleep (CLOCK_BOOTTIME on Linux).
  suspendedMs: () => uptime() * 1000 - performance.now(),
  after(delayMs, callback) {
    const dueMs = performance.now() + delayMs;
    // Node counts in whole milliseconds and may fire up to one too early.
    const onTimer = (): void => {
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) timer = setTimeout(onTimer, Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
      else callback();
    };
    let timer = setTimeout(onTimer, Math.min(Math.max(0, delayMs), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

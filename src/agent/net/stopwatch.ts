import type { Clock } from '../../runtime/clock.ts';
import type { StarvationWatch } from './starvation-watch.ts';

export interface StopwatchParts {
  readonly clock: Clock;
  readonly starvation?: StarvationWatch | undefined;
}

/**
 * An instant, with the unseen time of the whole attempt until then: the time after an event that the
 * kernel timed until the event loop saw it.
 */
export interface TimedInstant {
  /** Monotonic. */
  readonly atMs: number;
  readonly unseenMs: number;
}

export function unseenMsOf({ starvation }: StopwatchParts): number {
  return starvation?.unseenMs ?? 0;
}

/** Measures a target's time, without the time until the event loop saw the end. */
export class Stopwatch {
  readonly #parts: StopwatchParts;
  readonly #startMs: number;
  readonly #startUnseenMs: number;

  /** @param startMs monotonic instant; no unseen time was recorded since */
  constructor(parts: StopwatchParts, startMs: number = parts.clock.monotonicMs()) {
    this.#parts = parts;
    this.#startMs = startMs;
    this.#startUnseenMs = unseenMsOf(parts);
  }

  /** Milliseconds from the start to `atMs`, without unseen time. */
  elapsedMs(atMs: number = this.#parts.clock.monotonicMs()): number {
    return atMs - this.#startMs - this.unseenMs;
  }

  /** Milliseconds from the start to a past instant, without the unseen time until then. */
  elapsedUntilMs({ atMs, unseenMs }: TimedInstant): number {
    return atMs - this.#startMs - (unseenMs - this.#startUnseenMs);
  }

  /** Milliseconds of unseen time since the start, which `elapsedMs` excludes. */
  get unseenMs(): number {
    return unseenMsOf(this.#parts) - this.#startUnseenMs;
  }
}

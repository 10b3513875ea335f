import type { Clock } from '../../runtime/clock.ts';
import type { StarvationWatch } from './overtime.ts';

export interface StopwatchParts {
  readonly clock: Clock;
  readonly starvation?: StarvationWatch | undefined;
}

/** Times what a target does, without what only kept the event loop from seeing an end. */
export class Stopwatch {
  readonly #parts: StopwatchParts;
  readonly #startMs: number;
  readonly #startUnseenMs: number;

  /** @param startMs monotonic instant; nothing that it leaves out was noted since */
  constructor(parts: StopwatchParts, startMs: number = parts.clock.monotonicMs()) {
    this.#parts = parts;
    this.#startMs = startMs;
    this.#startUnseenMs = parts.starvation?.unseenMs ?? 0;
  }

  /** Milliseconds from the start to this instant, now where none is given. */
  elapsedMs(atMs: number = this.#parts.clock.monotonicMs()): number {
    return atMs - this.#startMs - this.unseenMs;
  }

  /** What it leaves out, milliseconds. */
  get unseenMs(): number {
    return (this.#parts.starvation?.unseenMs ?? 0) - this.#startUnseenMs;
  }
}

import type { Clock } from '../../runtime/clock.ts';

/** A larger difference is a step of the clock: the clocks of replicas differ by less. */
const MAX_STEP_MS = 2_000;

/**
 * Measures for how long agents have been able to poll this replica without interruption. Interruptions are a
 * start of the service, a failure of its database, a suspended process, a machine that slept, and a step of
 * the clock, after which leases seem to have expired.
 */
export class PollAvailability {
  readonly #clock: Clock;
  readonly #maxGapMs: number;
  /** Monotonic. */
  #sinceMs = 0;
  /** The last call; null after an interruption. */
  #last: { readonly wallMs: number; readonly monotonicMs: number } | null = null;

  /** @param maxGapMs between the beginnings of two scans: more is an interruption */
  constructor(clock: Clock, { maxGapMs }: { readonly maxGapMs: number }) {
    this.#clock = clock;
    this.#maxGapMs = maxGapMs;
  }

  /** Milliseconds since the last interruption. Call it before each scan. */
  observe(): number {
    const now = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.monotonicMs() };
    if (this.#last === null || isInterruption(this.#last, now, this.#maxGapMs))
      this.#sinceMs = now.monotonicMs;
    this.#last = now;
    return now.monotonicMs - this.#sinceMs;
  }

  /** Call it if a scan failed or the database stalled. */
  interrupt(): void {
    this.#last = null;
  }
}

type Reading = { readonly wallMs: number; readonly monotonicMs: number };

function isInterruption(last: Reading, now: Reading, maxGapMs: number): boolean {
  const passedMs = now.monotonicMs - last.monotonicMs;
  const stepMs = now.wallMs - last.wallMs - passedMs;
  return passedMs > maxGapMs || Math.abs(stepMs) > MAX_STEP_MS;
}

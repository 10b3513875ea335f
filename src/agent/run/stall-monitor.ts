import type { CancelTimer, Clock } from '../../runtime/clock.ts';

const BEAT_MS = 50;

/** The event loop may stand still this long inside an attempt that counts (SEMANTICS 1, Result). */
export const MAX_STALL_MS = 250;

/**
 * Notices when the event loop stood still, whatever held it: our own work, a frozen process, a
 * machine without CPU to give. Modes: stopped (no timer), beating (one timer, every 50 ms).
 */
export class StallMonitor {
  readonly #clock: Clock;
  #cancel: CancelTimer | null = null;
  #lastBeatMs = 0;
  #lastStallEndMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    if (this.#cancel !== null) return;
    this.#lastBeatMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Whether the loop stood still for longer than MAX_STALL_MS after the monotonic instant. */
  stalledSince(instantMs: number): boolean {
    this.#look();
    return this.#lastStallEndMs > instantMs;
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(BEAT_MS, () => {
      this.#look();
      this.#schedule();
    });
  }

  /** Also called between beats: after a stall, others' timers may fire before ours. */
  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastBeatMs > MAX_STALL_MS) this.#lastStallEndMs = nowMs;
    this.#lastBeatMs = nowMs;
  }
}

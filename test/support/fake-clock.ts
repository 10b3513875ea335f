import type { CancelTimer, Clock } from '../../src/runtime/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that moves only when the test moves it. Wall and monotonic time can move separately. */
export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1000;
  #suspendedMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(wallMs = Date.UTC(2026, 0, 1)) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return Math.floor(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  suspendedMs(): number {
    return this.#suspendedMs;
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    this.#order += 1;
    const dueMs = this.#monotonicMs + Math.max(0, delayMs);
    const timer = { dueMs, order: this.#order, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Pending timers: a test must end with none, otherwise something leaked. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Monotonic milliseconds until the next timer; null if there is none. */
  get nextTimerInMs(): number | null {
    const next = this.#nextDue(Number.POSITIVE_INFINITY);
    return next === null ? null : next.dueMs - this.#monotonicMs;
  }

  /** Advances both clocks and fires the due timers, each at its own instant. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#monotonicMs + durationMs;
    await settle();
    for (let timer = this.#nextDue(endMs); timer !== null; timer = this.#nextDue(endMs)) {
      this.#moveTo(Math.max(timer.dueMs, this.#monotonicMs));
      this.#timers.delete(timer);
      timer.callback();
      await settle();
    }
    this.#moveTo(Math.max(endMs, this.#monotonicMs));
  }

  /** The running code takes this long: both clocks advance, and due timers wait. */
  spend(durationMs: number): void {
    this.#moveTo(this.#monotonicMs + durationMs);
  }

  /** The process was stopped or starved: both clocks advance without firing timers. */
  async stall(durationMs: number): Promise<void> {
    this.#moveTo(this.#monotonicMs + durationMs);
    await this.advance(0);
  }

  /** The wall clock was set. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** The machine sleeps: the wall clock advances; monotonic time and timers stand still. */
  suspend(durationMs: number): void {
    this.#wallMs += durationMs;
    this.#suspendedMs += durationMs;
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #nextDue(endMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (
        next === null ||
        timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.order < next.order)
      ) {
        next = timer;
      }
    }
    return next;
  }
}

/** Runs everything that is ready: promises, and the work that they start. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

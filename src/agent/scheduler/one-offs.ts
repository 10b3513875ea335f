import type { Clock } from '../../runtime/clock.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';

/**
 * The outcome of a one-off run.
 *
 * - `ended`: it ran, with any result, or was cancelled
 * - `too_late`: its `notAfter` passed before a permit was free
 * - `stopped`: the agent stopped before it was done; another agent may still run it
 * - `refused`: too many one-offs are waiting (MAX_KNOWN)
 */
export type OneOffOutcome = 'ended' | 'too_late' | 'stopped' | 'refused';

/** A one-off run with the callback for its end. */
export interface OneOffRequest {
  readonly run: OneOff;
  readonly onEnded: (outcome: OneOffOutcome) => void;
  /** `notAfter` as a monotonic instant, computed when the request arrived. */
  readonly latestMs: number;
}

/** Maximum number of unfinished one-offs, and of remembered outcomes. */
const MAX_KNOWN = 2 * MAX_ONE_OFFS;
/** The wall clock may have been set, so waiting one-offs are scanned this often. */
const SCAN_INTERVAL_MS = 1000;

/** One-offs that wait until they are due, and the runIds of earlier ones. */
export class OneOffs {
  readonly #clock: Clock;
  /** Waiting one-offs by runId, in the order of their arrival. */
  readonly #waiting = new Map<string, OneOffRequest>();
  /** The runIds of all that have not ended: waiting here, waiting for a permit, or active. */
  readonly #unfinished = new Set<string>();
  /** The outcomes of ended one-offs by runId, at most MAX_KNOWN: the oldest are dropped. */
  readonly #outcomes = new Map<string, OneOffOutcome>();
  #nextScanMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a one-off. Ignores a known runId, but calls `onEnded` again if that one has ended. */
  add(run: OneOff, onEnded: OneOffRequest['onEnded']): void {
    if (this.#unfinished.has(run.runId)) return;
    const known = this.#outcomes.get(run.runId);
    if (known !== undefined) {
      onEnded(known);
      return;
    }
    if (this.#unfinished.size >= MAX_KNOWN) {
      onEnded('refused');
      return;
    }
    this.#unfinished.add(run.runId);
    const latestMs = this.#clock.monotonicMs() + run.notAfter - this.#clock.wallMs();
    const ended = (outcome: OneOffOutcome): void => {
      this.#remember(run.runId, outcome);
      onEnded(outcome);
    };
    this.#waiting.set(run.runId, { run, onEnded: ended, latestMs });
    this.#nextScanMs = Number.NEGATIVE_INFINITY;
  }

  /** Removes and returns one that is due, or null; ends those that are too late. */
  takeDue(): OneOffRequest | null {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextScanMs) return null;
    let nextScanMs = nowMs + SCAN_INTERVAL_MS;
    for (const oneOff of this.#waiting.values()) {
      const dueInMs = this.#dueInMs(oneOff);
      if (dueInMs <= 0) {
        this.#waiting.delete(oneOff.run.runId);
        if (!isTooLate(oneOff, this.#clock)) return oneOff;
        oneOff.onEnded('too_late');
      } else nextScanMs = Math.min(nextScanMs, nowMs + dueInMs);
    }
    this.#nextScanMs = this.#waiting.size === 0 ? Number.POSITIVE_INFINITY : nextScanMs;
    return null;
  }

  /** Removes and returns a waiting one, due or not; null if it does not wait here. */
  take(runId: string): OneOffRequest | null {
    const oneOff = this.#waiting.get(runId) ?? null;
    this.#waiting.delete(runId);
    return oneOff;
  }

  /** Milliseconds until `takeDue` may return one; Infinity if none waits. */
  get nextInMs(): number {
    if (this.#waiting.size === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#nextScanMs - this.#clock.monotonicMs());
  }

  /** Ends all that wait. */
  stop(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { onEnded } of waiting) onEnded('stopped');
  }

  #dueInMs({ run, latestMs }: OneOffRequest): number {
    const untilDueMs = (run.notBefore ?? 0) - this.#clock.wallMs();
    // Bounded by the monotonic clock, as the wall clock may be set.
    return Math.min(untilDueMs, latestMs - this.#clock.monotonicMs());
  }

  #remember(runId: string, outcome: OneOffOutcome): void {
    this.#unfinished.delete(runId);
    this.#outcomes.set(runId, outcome);
    if (this.#outcomes.size <= MAX_KNOWN) return;
    for (const oldest of this.#outcomes.keys()) {
      this.#outcomes.delete(oldest);
      return;
    }
  }
}

/** Checks both clocks: the wall clock may be set, and the monotonic one stops during a sleep. */
export function isTooLate({ run, latestMs }: OneOffRequest, clock: Clock): boolean {
  return clock.wallMs() >= run.notAfter || clock.monotonicMs() >= latestMs;
}

import type { Clock } from '../../runtime/clock.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';

/**
 * What became of a one-off.
 *
 * - `ended`: it ran, with whatever result
 * - `too_late`: its `notAfter` came before a place did
 * - `stopped`: the agent stopped before it was done; another agent may still make it
 * - `refused`: more of them wait already than this agent keeps in mind
 */
export type OneOffOutcome = 'ended' | 'too_late' | 'stopped' | 'refused';

/** A one-off, and who wants to hear of its end. */
export interface OneOffRequest {
  readonly run: OneOff;
  readonly onEnded: (outcome: OneOffOutcome) => void;
  /** Monotonic instant of `notAfter` as the clocks stood when it came. */
  readonly latestMs: number;
}

/** Of those that have not ended, and of those that have. */
const MAX_KNOWN = 2 * MAX_ONE_OFFS;
/** The wall clock may have been set, so what waits is looked at this often. */
const LOOK_INTERVAL_MS = 1000;

/** The one-offs from their coming until they are due, and which of them came before. */
export class OneOffs {
  readonly #clock: Clock;
  /** By runId, in the order they came. */
  readonly #waiting = new Map<string, OneOffRequest>();
  /** The runIds of those that wait, here or for a place, or run. */
  readonly #unfinished = new Set<string>();
  /** By runId; the oldest are forgotten. */
  readonly #outcomes = new Map<string, OneOffOutcome>();
  #nextLookMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes one over. One that is known by its runId is ignored: where it has ended the caller hears
   * of that again, else of the first one's end.
   */
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
    this.#nextLookMs = Number.NEGATIVE_INFINITY;
  }

  /** One that is due and waits no more; those that are too late have ended. null: none is due. */
  next(): OneOffRequest | null {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return null;
    let nextLookMs = nowMs + LOOK_INTERVAL_MS;
    for (const asked of this.#waiting.values()) {
      const dueInMs = this.#dueInMs(asked);
      if (dueInMs <= 0) {
        this.#waiting.delete(asked.run.runId);
        if (!isTooLate(asked, this.#clock)) return asked;
        asked.onEnded('too_late');
      } else nextLookMs = Math.min(nextLookMs, nowMs + dueInMs);
    }
    this.#nextLookMs = this.#waiting.size === 0 ? Number.POSITIVE_INFINITY : nextLookMs;
    return null;
  }

  /** Milliseconds until `next` may have one; Infinity where none waits. */
  get nextInMs(): number {
    if (this.#waiting.size === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#nextLookMs - this.#clock.monotonicMs());
  }

  /** None that waits will run. */
  stop(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { onEnded } of waiting) onEnded('stopped');
  }

  #dueInMs({ run, latestMs }: OneOffRequest): number {
    const untilDueMs = (run.notBefore ?? 0) - this.#clock.wallMs();
    // However the wall clock is set meanwhile, it does not wait for ever.
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

/** By either clock: one may have been set, and the other stands still while the machine sleeps. */
export function isTooLate({ run, latestMs }: OneOffRequest, clock: Clock): boolean {
  return clock.wallMs() >= run.notAfter || clock.monotonicMs() >= latestMs;
}

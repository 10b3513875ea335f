import type { Clock } from '../../runtime/clock.ts';
import { type KernelSockets, TICK_MS } from './kernel/kernel-sockets.ts';
import type { Silence } from './kernel/silence.ts';

/** Readings of both of an agent's counters of starvation, milliseconds. */
export interface StarvationMark {
  readonly runDelayMs: number;
  readonly lateMs: number;
}

/** How starved of CPU the agent is, as the waits of one attempt ask at their deadlines. */
export interface StarvationWatch {
  mark(): StarvationMark;
  sinceMs(mark: StarvationMark): number;
  /** null where the kernel cannot be asked for its sockets. */
  readonly sockets: KernelSockets | null;
  /** A wait ended at its deadline; `certain`: its peer had all of the time that it was to have. */
  timedOut(certain: boolean): void;
}

export interface OvertimeLimits {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly starvation?: StarvationWatch | undefined;
}

/** Starved for less, an attempt's times count as exact: no threshold is finer. */
export const EXACT_MS = 1;
/** A wait lasts at most so much longer because we were starved. */
export const MAX_OVERTIME_MS = 30_000;
/** So little of a time limit is nobody's loss. */
const TOLERANCE_MS = 10;
/** What has arrived is read within one turn of the event loop, or two. */
const MAX_LOOKS = 3;

/**
 * What a wait is still given when its deadline has come: a turn of the event loop for what the
 * kernel has already, and the time for which we were starved, unless the kernel says that the peer
 * was silent for the whole limit anyway. Made when the wait begins.
 */
export class Overtime {
  readonly #limits: OvertimeLimits;
  readonly #mark: StarvationMark | null;
  readonly #startMs: number;
  #looks = 0;

  constructor(limits: OvertimeLimits) {
    this.#limits = limits;
    this.#mark = limits.starvation?.mark() ?? null;
    this.#startMs = limits.clock.monotonicMs();
  }

  /** Milliseconds more to wait; null: the time is up, and the attempt is told how certainly. */
  nextMs(silence: Silence): number | null {
    const { clock, deadlineMs, starvation } = this.#limits;
    if (starvation === undefined || this.#mark === null) return null;
    if (silence.kind === 'arrived' && this.#looks < MAX_LOOKS) {
      this.#looks += 1;
      return 0;
    }
    const limitMs = deadlineMs - this.#startMs;
    const silentMs = silence.kind === 'silent' ? silence.ms : 0;
    if (silence.kind === 'silent' && silentMs >= limitMs - TICK_MS) return this.#end(true);
    const starvedMs = starvation.sinceMs(this.#mark);
    const overtimeMs = Math.min(starvedMs, MAX_OVERTIME_MS);
    const missingMs = Math.min(deadlineMs + overtimeMs - clock.monotonicMs(), limitMs - silentMs);
    return missingMs > TOLERANCE_MS ? missingMs : this.#end(starvedMs <= MAX_OVERTIME_MS);
  }

  #end(certain: boolean): null {
    this.#limits.starvation?.timedOut(certain);
    return null;
  }
}

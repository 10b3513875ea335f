import type { Clock } from '../../runtime/clock.ts';
import { type KernelSockets, TICK_MS } from './kernel/kernel-sockets.ts';
import type { Silence } from './kernel/silence.ts';

/** Readings of the counters of starvation, milliseconds. */
export interface StarvationMark {
  /** For so long the thread waited for a CPU. */
  readonly runDelayMs: number;
  /** So late the event loop was in all. */
  readonly lateMs: number;
  /** For so long the event loop was busy, where that was for most of a while. */
  readonly busyMs: number;
}

/**
 * A stretch of time in which the kernel timed what the target did: however starved the agent was in
 * it, that time is exact.
 */
export interface KernelTimed {
  readonly since: StarvationMark;
  /** Taken before the clock is read for `unseenMs`: what starves us in between stays uncertain. */
  readonly until: StarvationMark;
  /** What passed in it beside, until the event loop saw the end of it. */
  readonly unseenMs: number;
  /** By so much the kernel's time may be too long. */
  readonly uncertainMs: number;
}

/** How starved of CPU the agent is, as the waits of one attempt ask at their deadlines. */
export interface StarvationWatch {
  /** Monotonic instant at which the attempt began. */
  readonly startMs: number;
  /** Since then. Costs a system call, so only what is late or slow asks. */
  readonly starvedMs: number;
  /** null where the kernel cannot be asked for its sockets. */
  readonly sockets: KernelSockets | null;
  /** Where the counters stand now, for `timedByKernel`. */
  mark(): StarvationMark;
  /** Such stretches do not overlap. */
  timedByKernel(stretch: KernelTimed): void;
  /** Of all of them together; it is in no time of the result (stopwatch.ts). */
  readonly unseenMs: number;
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
  readonly #startMs: number;
  #looks = 0;

  constructor(limits: OvertimeLimits) {
    this.#limits = limits;
    this.#startMs = limits.clock.monotonicMs();
  }

  /** Milliseconds more to wait; null: the time is up, and the attempt is told how certainly. */
  nextMs(silence: Silence): number | null {
    const { clock, deadlineMs, starvation } = this.#limits;
    if (starvation === undefined) return null;
    if (silence.kind === 'arrived' && this.#looks < MAX_LOOKS) {
      this.#looks += 1;
      return 0;
    }
    const { starvedMs } = starvation;
    // What starvation took before this wait began shortened it, and is no time of the peer's.
    const lostMs = Math.min(starvedMs, MAX_OVERTIME_MS, this.#startMs - starvation.startMs);
    const limitMs = deadlineMs + lostMs - this.#startMs;
    const silentMs = silence.kind === 'silent' ? silence.ms : 0;
    if (silence.kind === 'silent' && silentMs >= limitMs - TICK_MS) return this.#end(true);
    const overtimeMs = Math.min(starvedMs, MAX_OVERTIME_MS);
    const missingMs = Math.min(deadlineMs + overtimeMs - clock.monotonicMs(), limitMs - silentMs);
    return missingMs > TOLERANCE_MS ? missingMs : this.#end(starvedMs <= MAX_OVERTIME_MS);
  }

  #end(certain: boolean): null {
    this.#limits.starvation?.timedOut(certain);
    return null;
  }
}

import type { Clock } from '../../runtime/clock.ts';
import { type KernelSockets, TICK_MS } from './kernel/kernel-sockets.ts';
import type { Silence } from './kernel/silence.ts';

/** Readings of the counters of starvation, milliseconds. */
export interface StarvationMark {
  /** How long the thread waited for a CPU. */
  readonly runDelayMs: number;
  /** Total lateness of the event loop. */
  readonly lateMs: number;
  /** Busy time of the event loop, without short intervals. */
  readonly busyMs: number;
}

/** A time span in which the kernel timed the target, exactly however starved the agent was. */
export interface KernelTimed {
  readonly since: StarvationMark;
  /** Taken before the clock is read for `unseenMs`: what starves us in between stays uncertain. */
  readonly until: StarvationMark;
  /** The rest of the span, until the event loop saw the end. */
  readonly unseenMs: number;
  /** Upper bound of the error by which the kernel's time may be too long. */
  readonly uncertainMs: number;
}

/** How starved of CPU the agent is; the waits of one attempt check it at their deadlines. */
export interface StarvationWatch {
  /** Monotonic instant at which the attempt began. */
  readonly startMs: number;
  /** Since then. Costs a system call, so only late or slow attempts read it. */
  readonly starvedMs: number;
  /** null if the kernel's state of sockets is not available. */
  readonly sockets: KernelSockets | null;
  mark(): StarvationMark;
  /** Spans must not overlap. */
  timedByKernel(span: KernelTimed): void;
  /** Sum over all spans; no time of the result includes it (stopwatch.ts). */
  readonly unseenMs: number;
  /** A wait ended at its deadline; `certain`: its peer had its full time. */
  timedOut(certain: boolean): void;
}

export interface OvertimeLimits {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly starvation?: StarvationWatch | undefined;
}

/** Starved for less, an attempt's times count as exact: no threshold is finer. */
export const EXACT_MS = 1;
/** Upper bound of the extension of a wait because of starvation. */
export const MAX_OVERTIME_MS = 30_000;
/** A remainder of a time limit that is not worth another wait. */
const TOLERANCE_MS = 10;
/** The event loop reads data that has arrived within one or two iterations. */
const MAX_CHECKS = 3;

/**
 * Extends a wait at its deadline: by an event-loop iteration for data that the kernel already has,
 * and by the time of our starvation, unless the kernel shows that the peer was silent for the whole
 * limit anyway. Create it when the wait begins.
 */
export class Overtime {
  readonly #limits: OvertimeLimits;
  readonly #startMs: number;
  #checks = 0;

  constructor(limits: OvertimeLimits) {
    this.#limits = limits;
    this.#startMs = limits.clock.monotonicMs();
  }

  /** Milliseconds more to wait; null: the time is up, which it reports to the attempt. */
  nextMs(silence: Silence): number | null {
    const { clock, deadlineMs, starvation } = this.#limits;
    if (starvation === undefined) return null;
    if (silence.kind === 'arrived' && this.#checks < MAX_CHECKS) {
      this.#checks += 1;
      return 0;
    }
    const { starvedMs } = starvation;
    // Starvation before this wait began shortened it; that is not the peer's time.
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

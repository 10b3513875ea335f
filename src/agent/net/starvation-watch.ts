import type { KernelSockets } from './kernel/kernel-sockets.ts';

/** Readings of the counters of starvation, milliseconds. */
export interface StarvationMark {
  /** How long the thread waited for a CPU. */
  readonly runDelayMs: number;
  /** Total lateness of the event loop. */
  readonly lateMs: number;
  /** Busy time of the event loop, without short intervals. */
  readonly busyMs: number;
}

/** Milliseconds by which times measured between the marks may be too long. */
export function uncertainBetween(since: StarvationMark, until: StarvationMark): number {
  return Math.max(
    until.runDelayMs - since.runDelayMs,
    until.lateMs - since.lateMs,
    until.busyMs - since.busyMs,
    0,
  );
}

/** A time span in which the kernel timed the target, independent of the agent's starvation. */
export interface KernelTimed {
  readonly since: StarvationMark;
  /** Taken before the clock is read for `unseenMs`: starvation in between stays uncertain. */
  readonly until: StarvationMark;
  /** Milliseconds of the rest of the span, until the event loop saw the end. */
  readonly unseenMs: number;
  /** Upper bound of the error by which the kernel's time may be too long. */
  readonly uncertainMs: number;
  /**
   * Milliseconds that slow readings of the clocks may add to that error, even without starvation.
   */
  readonly slowReadingMs?: number;
}

/** A time span in which the agent read nothing, because it still processed what it had read. */
export interface PausedReading {
  readonly since: StarvationMark;
  /** Taken before the clock is read for `durationMs`. */
  readonly until: StarvationMark;
  readonly durationMs: number;
}

/** Measures the CPU starvation of one attempt, whose waits check it at their deadlines. */
export interface StarvationWatch {
  /** Monotonic instant at which the attempt began. */
  readonly startMs: number;
  /**
   * Milliseconds of starvation since then, including pauses of its reading. Costs a system call, so
   * only late or slow attempts read it.
   */
  readonly starvedMs: number;
  /** null if the kernel's state of sockets is not available. */
  readonly sockets: KernelSockets | null;
  mark(): StarvationMark;
  /** Spans must not overlap. */
  timedByKernel(span: KernelTimed): void;
  /** All of such a span may be the agent's time. Spans must not overlap. */
  pausedReading(span: PausedReading): void;
  /** The sum of `unseenMs` over all spans, which no time of the result includes (stopwatch.ts). */
  readonly unseenMs: number;
  /** A wait ended at its deadline; `certain`: its peer had its full time. */
  timedOut(certain: boolean): void;
}

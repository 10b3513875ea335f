import { performance } from 'node:perf_hooks';
import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import { type KernelSockets, loadKernelSockets } from '../../net/kernel/kernel-sockets.ts';
import {
  type KernelTimed,
  type PausedReading,
  type StarvationMark,
  type StarvationWatch,
  uncertainBetween,
} from '../../net/starvation-watch.ts';
import { openThreadDelay, type ThreadDelay } from './thread-delay.ts';

/** Interval of the timer that samples the event loop during attempts. */
const BEAT_MS = 20;
/** A timer can be this late on an idle machine. */
const TIMER_LATE_MS = 5;
/** With this much work or more between two beats, the work can delay events of an attempt. */
const BUSY_MS = BEAT_MS / 2;
/** A reading is reused for this long, so that attempts that start together share it. */
const READING_MS = 1;

export interface StarvationSources {
  /** null if the kernel does not report it. */
  readonly threadDelay: ThreadDelay | null;
  readonly sockets: KernelSockets | null;
  /** Milliseconds that the event loop has been idle since its start; null if not measured. */
  readonly loopIdleMs: (() => number) | null;
}

/** The sources that this machine has. */
export async function openStarvationSources(): Promise<StarvationSources> {
  const loopIdleMs = (): number => performance.eventLoopUtilization().idle;
  return { threadDelay: openThreadDelay(), sockets: await loadKernelSockets(), loopIdleMs };
}

/**
 * Measures how long the agent was starved: the larger of the time that its thread waited for a CPU,
 * and the lateness of the event loop, which also includes a suspended process and the agent's own
 * work. Not the sum: a waiting thread makes the loop late.
 *
 * Lateness includes only a part of the agent's own work, since a beat is due BEAT_MS after the last
 * one. Therefore all work between two beats makes an attempt's times uncertain if it fills half of
 * the time between them.
 */
export class StarvationMeter {
  readonly #clock: Clock;
  readonly #sources: StarvationSources;
  #attempts = 0;
  #cancelBeat: CancelTimer = () => {};
  #beatDueMs = 0;
  #idleAtBeatMs = 0;
  #lateMs = 0;
  #busyMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #runDelayMs = 0;

  constructor(clock: Clock, sources: StarvationSources) {
    this.#clock = clock;
    this.#sources = sources;
  }

  /** Must be followed by `end`. */
  begin(): AttemptStarvation {
    this.#attempts += 1;
    if (this.#attempts === 1) this.#beat();
    return new AttemptStarvation(this, this.#clock.monotonicMs(), this.#sources.sockets);
  }

  /** Ends an attempt of `begin`. */
  end(): void {
    this.#attempts -= 1;
    if (this.#attempts === 0) this.#cancelBeat();
  }

  mark(): StarvationMark {
    const nowMs = this.#clock.monotonicMs();
    const { threadDelay } = this.#sources;
    if (threadDelay !== null && nowMs - this.#readAtMs >= READING_MS) {
      this.#runDelayMs = threadDelay.readMs();
      this.#readAtMs = nowMs;
    }
    // After a stall other timers may fire before ours.
    const lateMs = this.#attempts === 0 ? 0 : latenessOf(this.#beatDueMs, nowMs);
    const busyMs = this.#attempts === 0 ? 0 : this.#busyUntil(nowMs);
    return {
      runDelayMs: this.#runDelayMs,
      lateMs: this.#lateMs + lateMs,
      busyMs: this.#busyMs + busyMs,
    };
  }

  /** Milliseconds for which the agent was starved since the mark. */
  sinceMs(mark: StarvationMark): number {
    const { runDelayMs, lateMs } = between(mark, this.mark());
    return Math.max(runDelayMs, lateMs, 0);
  }

  /** Milliseconds by which times measured since the mark may be too long. */
  uncertainSinceMs(mark: StarvationMark): number {
    return uncertainBetween(mark, this.mark());
  }

  close(): void {
    this.#cancelBeat();
    this.#sources.threadDelay?.close();
    this.#sources.sockets?.close();
  }

  #beat(): void {
    this.#beatDueMs = this.#clock.monotonicMs() + BEAT_MS;
    this.#idleAtBeatMs = this.#sources.loopIdleMs?.() ?? 0;
    this.#cancelBeat = this.#clock.after(BEAT_MS, () => {
      const nowMs = this.#clock.monotonicMs();
      this.#lateMs += latenessOf(this.#beatDueMs, nowMs);
      this.#busyMs += this.#busyUntil(nowMs);
      this.#beat();
    });
  }

  /** Work since the last beat. Suspension or CPU waits while the loop was idle do not count. */
  #busyUntil(nowMs: number): number {
    const { loopIdleMs } = this.#sources;
    if (loopIdleMs === null) return 0;
    const sinceBeatMs = nowMs - (this.#beatDueMs - BEAT_MS);
    const busyMs = sinceBeatMs - (loopIdleMs() - this.#idleAtBeatMs);
    return busyMs >= BUSY_MS ? busyMs : 0;
  }
}

function latenessOf(dueMs: number, nowMs: number): number {
  const lateMs = nowMs - dueMs;
  return lateMs > TIMER_LATE_MS ? lateMs : 0;
}

function between(from: StarvationMark, to: StarvationMark): StarvationMark {
  return {
    runDelayMs: to.runDelayMs - from.runDelayMs,
    lateMs: to.lateMs - from.lateMs,
    busyMs: to.busyMs - from.busyMs,
  };
}

function advanced(mark: StarvationMark, by: StarvationMark): StarvationMark {
  return {
    runDelayMs: mark.runDelayMs + by.runDelayMs,
    lateMs: mark.lateMs + by.lateMs,
    busyMs: mark.busyMs + by.busyMs,
  };
}

/** One attempt's view of the meter. */
export class AttemptStarvation implements StarvationWatch {
  readonly startMs: number;
  readonly sockets: KernelSockets | null;
  readonly #meter: StarvationMeter;
  /** Advanced by the counters' increases during pauses, which count as a whole. */
  #start: StarvationMark;
  /** `#start`, also advanced by the increases during times that the kernel measured. */
  #uncertainStart: StarvationMark;
  #pausedMs = 0;
  #kernelUncertainMs = 0;
  #slowReadingMs = 0;
  #unseenMs = 0;
  #lastTimeOut: 'certain' | 'uncertain' | null = null;

  constructor(meter: StarvationMeter, startMs: number, sockets: KernelSockets | null) {
    this.#meter = meter;
    this.startMs = startMs;
    this.sockets = sockets;
    this.#start = meter.mark();
    this.#uncertainStart = this.#start;
  }

  get starvedMs(): number {
    return this.#meter.sinceMs(this.#start) + this.#pausedMs;
  }

  /** How much too long the attempt's times may be; excludes times that the kernel measured. */
  get uncertainMs(): number {
    const outsideMs = this.#meter.uncertainSinceMs(this.#uncertainStart);
    const mostMs = this.#meter.uncertainSinceMs(this.#start);
    const kernelMs = outsideMs + this.#kernelUncertainMs;
    return Math.min(mostMs, kernelMs) + this.#slowReadingMs + this.#pausedMs;
  }

  mark(): StarvationMark {
    return this.#meter.mark();
  }

  get unseenMs(): number {
    return this.#unseenMs;
  }

  timedByKernel({ since, until, unseenMs, uncertainMs, slowReadingMs = 0 }: KernelTimed): void {
    this.#uncertainStart = advanced(this.#uncertainStart, between(since, until));
    this.#kernelUncertainMs += uncertainMs;
    this.#slowReadingMs += slowReadingMs;
    this.#unseenMs += unseenMs;
  }

  pausedReading({ since, until, durationMs }: PausedReading): void {
    const gained = between(since, until);
    this.#start = advanced(this.#start, gained);
    this.#uncertainStart = advanced(this.#uncertainStart, gained);
    this.#pausedMs += durationMs;
  }

  timedOut(certain: boolean): void {
    this.#lastTimeOut = certain ? 'certain' : 'uncertain';
  }

  /** How certain the last time-out was; null if there was none. */
  get lastTimeOut(): 'certain' | 'uncertain' | null {
    return this.#lastTimeOut;
  }
}

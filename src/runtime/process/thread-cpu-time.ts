import { readFileSync, realpathSync } from 'node:fs';

/** Linux, Documentation/scheduler/sched-stats: the first field, in ns. Of the thread that reads it. */
export const OWN_SCHEDSTAT = '/proc/thread-self/schedstat';

const NANOS_PER_MS = 1e6;
/** A thread that used at least this share of a period counts as having had all of it: the kernel counts in ticks. */
const ENOUGH = 0.9;

/** The path by which other threads can read the schedstat file of this thread; null if there is none. */
export function sharedPathOf(schedstat: string): string | null {
  try {
    return realpathSync(schedstat);
  } catch {
    return null;
  }
}

/**
 * Milliseconds for which a thread has had a CPU; NaN if the kernel does not report it, or if the
 * thread has ended.
 */
export function threadCpuMs(schedstat: string): number {
  try {
    return Number.parseInt(readFileSync(schedstat, 'latin1'), 10) / NANOS_PER_MS;
  } catch {
    return Number.NaN;
  }
}

/** Whether a thread had a CPU for all of a period; null if that is unknown. */
export function hadCpuTime(usedMs: number, timeMs: number): boolean | null {
  return Number.isNaN(usedMs) ? null : usedMs >= ENOUGH * timeMs;
}

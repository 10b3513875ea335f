import { readFileSync } from 'node:fs';

/** Linux, Documentation/scheduler/sched-stats: the first field, in ns. Of the thread that reads it. */
export const OWN_SCHEDSTAT = '/proc/thread-self/schedstat';

const NANOS_PER_MS = 1e6;

/** Milliseconds for which a thread has had a CPU; NaN if the kernel does not report it. */
export function threadCpuMs(schedstat: string): number {
  try {
    return Number.parseInt(readFileSync(schedstat, 'latin1'), 10) / NANOS_PER_MS;
  } catch {
    return Number.NaN;
  }
}

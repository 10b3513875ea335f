import { closeSync, openSync, readSync } from 'node:fs';

/** How long the main thread has waited for a CPU since its start. */
export interface ThreadDelay {
  /** Milliseconds. */
  readMs(): number;
  close(): void;
}

const SPACE = 0x20;
const ZERO = 0x30;
const NANOS_PER_MS = 1e6;

/**
 * Reads the second field of schedstat (Linux, Documentation/scheduler/sched-stats): the time spent
 * runnable on a run queue, in ns, which includes pauses by a CPU quota. Only for the main thread,
 * which reads every socket and measures every time; a quota pauses libuv's pool and the workers
 * together with it. null if there is no such file.
 */
export function openThreadDelay(
  path = `/proc/self/task/${process.pid}/schedstat`,
): ThreadDelay | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return null;
  }
  const text = Buffer.alloc(64);
  const delay = {
    readMs: () => secondNumber(text, readSync(fd, text, 0, text.length, 0)) / NANOS_PER_MS,
    close: () => closeSync(fd),
  };
  if (Number.isFinite(delay.readMs())) return delay;
  delay.close();
  return null;
}

/** Does not allocate, as it runs at the start and end of every attempt. NaN without a number. */
function secondNumber(text: Buffer, bytes: number): number {
  let at = text.indexOf(SPACE) + 1;
  if (at === 0 || at >= bytes) return Number.NaN;
  let value = 0;
  for (; at < bytes && (text[at] ?? 0) >= ZERO; at += 1)
    value = value * 10 + (text[at] ?? 0) - ZERO;
  return value;
}

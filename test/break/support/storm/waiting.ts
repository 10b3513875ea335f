import { readFileSync } from 'node:fs';

/** A single wait explains any delay below this. */
const WINDOW_MS = 1_000;
const NS_PER_MS = 1e6;

interface Look {
  readonly atMs: number;
  readonly waitedMs: number;
}

/** How long a process had work and waited for a processor. */
export interface Waiting {
  /** Call it often: its resolution is that of the samples. */
  look(): void;
  /** The most in any second since the last call, milliseconds. */
  mostMs(): number;
}

/**
 * Watches the main thread of a process: `run_delay` of /proc/PID/schedstat, in which the kernel
 * counts the thread's waits for a processor.
 */
export function watchWaiting(pid: number): Waiting {
  const looks: Look[] = [];
  let mostMs = 0;
  return {
    look() {
      const now = { atMs: performance.now(), waitedMs: runDelayMs(pid) };
      looks.push(now);
      while ((looks[1]?.atMs ?? now.atMs) < now.atMs - WINDOW_MS) looks.shift();
      mostMs = Math.max(mostMs, now.waitedMs - (looks[0]?.waitedMs ?? now.waitedMs));
    },
    mostMs() {
      const most = mostMs;
      mostMs = 0;
      return most;
    },
  };
}

function runDelayMs(pid: number): number {
  const [, runDelayNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
  if (runDelayNs === undefined) throw new Error(`/proc/${pid}/schedstat has no run_delay`);
  return runDelayNs / NS_PER_MS;
}

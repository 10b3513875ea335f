import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

/** Resources that must not remain after the last case. */
export interface Watched {
  /** Names of `process.getActiveResourcesInfo`. */
  readonly resources: RegExp;
  readonly files: boolean;
}

export const EVERYTHING: Watched = {
  resources: /^(TCP|UDP|TLS|Pipe|Timeout|Zlib|ZLIB|Brotli|HTTP|GetAddrInfo|ShutdownWrap|WriteWrap)/,
  files: true,
};
export const SOCKETS_AND_TIMERS: Watched = { resources: /^(TCP|TLS|Pipe|Timeout)/, files: false };
/** The time limit of the last close events; only a leak comes near. */
const MAX_SETTLING_MS = 10_000;

/** Runs the body, and fails if it leaves a socket, a timer or a file open. */
export async function leavingNothing(
  body: () => Promise<void>,
  watched: Watched = EVERYTHING,
): Promise<void> {
  const before = openThings(watched);
  await body();
  const leftOver = (): readonly string[] => moreThan(before, openThings(watched));
  const startMs = performance.now();
  while (leftOver().length > 0 && performance.now() - startMs < MAX_SETTLING_MS) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(leftOver(), 'what is still open afterwards').toEqual([]);
}

/** Additional resources, like `TCPSocketWrap: 3, before 2`. */
function moreThan(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(now)
    .filter(([name, count]) => count > (before[name] ?? 0))
    .map(([name, count]) => `${name}: ${count}, before ${before[name] ?? 0}`);
}

function openThings({ resources, files }: Watched): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo().filter((each) => resources.test(each))) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return files ? { ...counts, files: readdirSync('/proc/self/fd').length } : counts;
}

let collect: (() => void) | null = null;

/** Live bytes on the heap and outside, after a garbage collection. */
export async function livingBytes(): Promise<number> {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    collect();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

/** Live bytes on the heap only. */
export async function livingHeapBytes(): Promise<number> {
  await livingBytes();
  return process.memoryUsage().heapUsed;
}

/** Without a heartbeat; each wait of a case has a shorter limit. */
const MAX_SILENCE_MS = 150_000;

export interface Watchdog {
  /** A heartbeat; `report` is printed if it is the last one. */
  beat(report: string): void;
  end(): Promise<void>;
}

/**
 * Watches this process from another one, since it cannot report its own endless loop or a native
 * abort. When heartbeats stop, or the process dies, it prints the report of the last one.
 */
export async function startWatchdog(): Promise<Watchdog> {
  const folder = mkdtempSync(join(tmpdir(), 'vedette-fuzz-'));
  const path = join(folder, 'cases');
  const file = openSync(path, 'w');
  const args = ['-e', WATCHDOG, path, String(process.pid), String(MAX_SILENCE_MS)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    beat(report) {
      ftruncateSync(file);
      writeSync(file, report, 0, 'latin1');
    },
    async end() {
      const exited = once(child, 'exit');
      child.stdin.end('done');
      await exited;
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
}

const WATCHDOG = `
  const { readFileSync, rmSync, statSync, writeSync } = require('node:fs');
  const [path, pid, maxSilenceMs] = process.argv.slice(1);
  const print = (what) => {
    const cases = readFileSync(path, 'latin1');
    writeSync(2, what + ' in one of these cases (base64):\\n' + cases + '\\n');
    rmSync(require('node:path').dirname(path), { recursive: true });
  };
  let isDone = false;
  process.stdin.on('data', () => { isDone = true; });
  process.stdin.on('end', () => {
    if (!isDone) print('The process died');
    process.exit();
  });
  setInterval(() => {
    if (Date.now() - statSync(path).mtimeMs < Number(maxSilenceMs)) return;
    print('The event loop hangs');
    process.kill(Number(pid), 'SIGKILL');
    process.exit();
  }, 1000);
  process.stdout.write('watching');
`;

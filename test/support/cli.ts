import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with what was written so far as soon as it matches; rejects when the program ends. */
  seen(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
}

/** Starts the compiled program with its own small environment. It is killed with the test. */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...texts,
  }));
  return {
    child,
    ended,
    seen: (name, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(texts[name])) resolve(texts[name]);
        };
        child[name].on('data', look);
        void ended.then(({ stdout, stderr }) =>
          reject(new Error(`it ended without ${pattern}: ${stdout}${stderr}`)),
        );
        look();
      }),
  };
}

/** Runs the program to its end. */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return startCli(args, env).ended;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { COMPILED_PROGRAM } from '../process/compiled-program.ts';
import { memoryTerminal } from './memory-terminal.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the output so far as soon as it matches; rejects when the program ends. */
  seen(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
}

/**
 * Starts the compiled program with its own small environment. It is killed with the test.
 *
 * @param stdout an open file to write to; a pipe to this process unless given
 * @param maxDescriptors limit of open files and sockets; that of this process by default
 */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdout: 'pipe' | number = 'pipe',
  maxDescriptors: number | 'as here' = 'as here',
): RunningCli {
  const command = [...COMPILED_PROGRAM, ...args];
  const limited = ['sh', '-c', `ulimit -n ${maxDescriptors}; exec "$@"`, 'sh', ...command];
  const [program = '', ...rest] = maxDescriptors === 'as here' ? command : limited;
  const child = spawn(program, rest, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
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
          if (!pattern.test(texts[name])) return;
          child[name]?.off('data', look);
          resolve(texts[name]);
        };
        child[name]?.on('data', look);
        void ended.then(({ stdout, stderr }) =>
          reject(new Error(`it ended before its output matched ${pattern}: ${stdout}${stderr}`)),
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

/**
 * Runs a command line in this process, because starting Node is slow. No colours unless `env` asks
 * for them.
 */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const { terminal, stdout, stderr } = memoryTerminal();
  const code = await runProgram(args, { ...terminal, env }, (exitCode) => {
    throw new Error(`exit ${exitCode}`);
  });
  return { code, stdout: stdout(), stderr: stderr() };
}

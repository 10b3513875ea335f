import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** The length of a command in messages: it may name hundreds of targets. */
const MAX_CALL_CHARS = 200;

/** Linux counts in hundredths of a second, whatever the machine. */
const TICK_MS = 10;
/** proc(5), /proc/pid/stat: cutime and cstime, counted from the state. */
const ENDED_CHILDREN_USER = 13;
const ENDED_CHILDREN_SYSTEM = 14;

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The first line of its stdout. */
  readonly firstLine: string;
  /** The beginning of its stderr. */
  readonly stderr: () => string;
  readonly hasEnded: () => boolean;
  /** Terminates it and waits for its end. */
  stop(): Promise<void>;
}

export interface Start {
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its stdin, which is then closed. */
  readonly input?: string;
  /** The output that shows that it is ready; without it, the process is ready at once. */
  readonly readyOn?: { readonly stream: 'stdout' | 'stderr'; readonly pattern: RegExp };
}

/** Starts a program that runs until it is stopped. */
export async function startChild(
  program: string,
  args: readonly string[],
  { env = {}, input = '', readyOn }: Start = {},
): Promise<Running> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const said = { stdout: '', stderr: '' };
  const ready = new Promise<string>((resolve, reject) => {
    if (readyOn === undefined) child.once('spawn', () => resolve(''));
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (chunk: string) => {
        if (said[stream].length < 20_000) said[stream] += chunk;
        if (readyOn?.stream !== stream) return;
        const found = readyOn.pattern.exec(said[stream]);
        if (found !== null) resolve(found[1] ?? found[0]);
      });
    }
    child.once('error', reject);
    child.once('exit', () => {
      reject(new Error(`${program} ${args.join(' ')} ended: ${said.stdout}${said.stderr}`));
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    firstLine: await ready,
    stderr: () => said.stderr,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exit;
      clearTimeout(kill);
    },
  };
}

export interface Finished {
  readonly stdout: string;
  readonly stderr: string;
  /** CPU milliseconds, including its children; exact only if no other child ends meanwhile. */
  readonly cpuMs: number;
}

/**
 * Runs a program to its end.
 *
 * @throws Error if its exit code is none of `codes`
 */
export async function runToEnd(
  program: string,
  args: readonly string[],
  options: Pick<Start, 'env' | 'input'> & { readonly codes?: readonly number[] } = {},
): Promise<Finished> {
  const { env = {}, input = '', codes = [0] } = options;
  const beforeMs = cpuMsOfEndedChildren();
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const cpuMs = cpuMsOfEndedChildren() - beforeMs;
  if (code !== null && codes.includes(code)) return { stdout, stderr, cpuMs };
  const called = `${program} ${args.join(' ')}`.slice(0, MAX_CALL_CHARS);
  throw new Error(`${called} ended with ${code}: ${stdout}${stderr}`);
}

function cpuMsOfEndedChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return ((fields[ENDED_CHILDREN_USER] ?? 0) + (fields[ENDED_CHILDREN_SYSTEM] ?? 0)) * TICK_MS;
}

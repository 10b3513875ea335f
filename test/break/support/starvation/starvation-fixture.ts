import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { CheckResult, MissedSlots } from '../../../../src/model/result/result.ts';
import { limitCpu as limitCpuOf } from '../../../support/process/cpu-limit.ts';
import { endChild } from '../../../support/process/end-child.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import { talkTo } from '../storm/storm-talk.ts';
import type { StarvationCheck, TargetPorts } from './starvation-checks.ts';

const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const TARGETS = fileURLToPath(new URL('starvation-targets.mjs', import.meta.url));
/**
 * The time limit of its health port: the agent may be stopped for two seconds, and read its program
 * from disk again.
 */
const ANSWER_LIMIT_MS = 30_000;

export interface Targets {
  readonly ports: TargetPorts;
  /** The longest response time in ms by the targets' clock, by request name. */
  longestMs(): Promise<Readonly<Record<string, number>>>;
}

/** Targets that are never starved: they have real-time priority. */
export async function startTargets(): Promise<Targets> {
  const child = spawn('chrt', ['--fifo', '50', process.execPath, TARGETS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const talk = talkTo(child);
  const ports = JSON.parse(await talk.heard()) as TargetPorts;
  return { ports, longestMs: async () => JSON.parse(await talk.say('how long?')) };
}

export interface StarvedAgent {
  readonly pid: number;
  readonly results: readonly CheckResult[];
  readonly missed: readonly MissedSlots[];
  /** What it logged. */
  log(): string;
  /** Fetches a path of its health port. */
  ask(path: string): Promise<string>;
  stop(): Promise<void>;
}

/** An agent with these checks, on this CPU. Ends with the test at the latest. */
export async function startAgent(
  checks: readonly Pick<StarvationCheck, 'entry'>[],
  cpu: number,
  node: readonly string[] = [process.execPath],
): Promise<StarvedAgent> {
  const folder = makeTestFolder();
  const file = join(folder, 'checks.json');
  writeFileSync(file, JSON.stringify({ checks: checks.map(({ entry }) => entry) }));
  const command = [...node, MAIN, 'agent'];
  const child = spawn('taskset', ['--cpu-list', String(cpu), ...command], {
    env: { PATH: process.env.PATH, CHECKS_FILE: file, AGENT_HEALTH_PORT: '0', EVIDENCE: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => endChild(child));
  const results: CheckResult[] = [];
  const missed: MissedSlots[] = [];
  onLines(child, (line) => {
    const record = JSON.parse(line);
    if ('missed' in record) missed.push(record.missed);
    else results.push(record);
  });
  let log = '';
  const healthPort = await new Promise<number>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const port = /"port":(\d+),.*health and metrics are served/.exec(log)?.[1];
      if (port !== undefined && log.includes('checks loaded')) resolve(Number(port));
    });
    child.once('exit', () => reject(new Error(`the agent ended: ${log}`)));
  });
  return {
    pid: child.pid ?? 0,
    results,
    missed,
    log: () => log,
    ask: async (path) => {
      const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
      return (await fetch(`http://127.0.0.1:${healthPort}${path}`, { signal })).text();
    },
    async stop() {
      child.kill('SIGCONT');
      await endChild(child);
    },
  };
}

function onLines({ stdout }: ChildProcess, take: (line: string) => void): void {
  let rest = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

/** Limits the process to this percentage of one CPU until the test ends. */
export function limitCpu({ pid }: StarvedAgent, percent: number): void {
  // Finish callbacks run in reverse order: the agent ends only after this.
  onTestFinished(limitCpuOf(pid, percent));
}

/**
 * Processes that repeatedly use all of this CPU for some time and then rest, until the test ends:
 * without rest the agent would do nothing that could be judged.
 */
export function startHogs(cpu: number, count: number): void {
  for (let hog = 0; hog < count; hog += 1) {
    const place = ['--cpu-list', String(cpu), 'nice', '-n', '-20'];
    const child = spawn('taskset', [...place, process.execPath, '-e', HOG], { stdio: 'ignore' });
    onTestFinished(() => endChild(child));
  }
}

const HOG = `const burst = () => {
    for (const endMs = performance.now() + 100 + Math.random() * 400; performance.now() < endMs; );
    setTimeout(burst, 100 + Math.random() * 400);
  };
  burst();`;

/** Stops the process repeatedly, for up to two seconds, until the test ends. */
export function stopNowAndThen({ pid }: StarvedAgent): void {
  const child = spawn(process.execPath, ['-e', STOPPER, String(pid)], { stdio: 'ignore' });
  onTestFinished(() => endChild(child));
}

const STOPPER = `const pid = Number(process.argv[1]);
  const stop = () => {
    process.kill(pid, 'SIGSTOP');
    setTimeout(() => {
      process.kill(pid, 'SIGCONT');
      setTimeout(stop, 200 + Math.random() * 3000);
    }, 20 + Math.random() ** 3 * 2000);
  };
  stop();`;

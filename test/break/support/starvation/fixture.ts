import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import { type CpuGroup, HAS_CPU_CGROUP, makeCpuGroup } from '../../../support/process/cpu-limit.ts';
import { endChild } from '../../../support/process/end-child.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import { talkTo } from '../storm/talk.ts';
import type { StarvationCheck, TargetPorts } from './checks.ts';
import type { Gap, ReceivedResult } from './verdict.ts';

const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const TARGETS = fileURLToPath(new URL('targets.mjs', import.meta.url));
/**
 * The time limit of its health port: the agent may be stopped for two seconds, and read its program
 * from disk again.
 */
const ANSWER_LIMIT_MS = 30_000;

export interface Targets {
  readonly ports: TargetPorts;
  /** All times so far in which they answered nobody. */
  gaps(): Promise<readonly Gap[]>;
}

/** For chrt. */
const REAL_TIME = ['--fifo', '50'];

/** Targets that are never starved: they have real-time priority. */
export async function startTargets(): Promise<Targets> {
  const child = spawn('chrt', [...REAL_TIME, process.execPath, TARGETS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const talk = talkTo(child);
  const ports = JSON.parse(await talk.heard()) as TargetPorts;
  return { ports, gaps: async () => JSON.parse(await talk.say('gaps?')) };
}

export interface StarvedAgent {
  readonly pid: number;
  /** null if the machine has no CPU controller. */
  readonly cpu: CpuGroup | null;
  readonly results: readonly ReceivedResult[];
  readonly missed: readonly MissedSlots[];
  /** The lines that it logged. */
  log(): string;
  /** Fetches a path of its health port; rejects unless the status is 200. */
  ask(path: string, signal?: AbortSignal): Promise<string>;
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
  const pid = child.pid ?? 0;
  const cpuGroup = HAS_CPU_CGROUP ? ownCpuOf(pid) : null;
  const results: ReceivedResult[] = [];
  const missed: MissedSlots[] = [];
  onLines(child, (line) => {
    const record = JSON.parse(line);
    if ('missed' in record) missed.push(record.missed);
    else results.push({ ...record, receivedMs: Date.now() });
  });
  let log = '';
  const healthPort = await new Promise<number>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (more: string) => {
      log += more;
      const port = /"port":(\d+),.*health and metrics are served/.exec(log)?.[1];
      if (port !== undefined && log.includes('checks loaded')) resolve(Number(port));
    });
    child.once('exit', () => reject(new Error(`the agent ended: ${log}`)));
  });
  return {
    pid,
    cpu: cpuGroup,
    results,
    missed,
    log: () => log,
    ask: async (path, stopped) => {
      const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const signal = stopped === undefined ? limit : AbortSignal.any([limit, stopped]);
      const asked = { host: '127.0.0.1', port: healthPort, path, signal };
      // Its own connection: the agent closes idle ones, and a late test would still use them.
      const [response] = await once(get({ ...asked, agent: false }), 'response');
      const body = await text(response);
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
      return body;
    },
  };
}

/**
 * Other work of the machine takes little from an agent: only the test starves it. Finish callbacks
 * run in reverse order: the agent ends without the group, so at once.
 */
function ownCpuOf(pid: number): CpuGroup {
  const group = makeCpuGroup(pid);
  onTestFinished(() => group.remove());
  group.weigh(OWN_WEIGHT);
  return group;
}

const OWN_WEIGHT = 4;

function onLines({ stdout }: ChildProcess, take: (line: string) => void): void {
  let rest = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

/**
 * Processes that repeatedly use all of this CPU for some time and then rest, until the test ends:
 * without rest the agent would do nothing that could be judged.
 */
export function startHogs({ cpu }: StarvedAgent, onCpu: number, count: number): void {
  for (let hog = 0; hog < count; hog += 1) {
    const place = ['--cpu-list', String(onCpu), 'nice', '-n', '-20'];
    const child = spawn('taskset', [...place, process.execPath, '-e', HOG], { stdio: 'ignore' });
    // A priority counts within a group.
    if (child.pid !== undefined) cpu?.add(child.pid);
    onTestFinished(() => endChild(child));
  }
}

const HOG = `const burst = () => {
    for (const endMs = performance.now() + 100 + Math.random() * 400; performance.now() < endMs; );
    setTimeout(burst, 100 + Math.random() * 400);
  };
  burst();`;

/** Begins the stalls of an agent that loaded them (stalls.mjs). */
export function startStalls({ pid }: StarvedAgent): void {
  process.kill(pid, 'SIGUSR2');
}

/** Stops the process repeatedly, for up to two seconds, until the test ends. */
export function stopNowAndThen({ pid }: StarvedAgent): void {
  // It must not be late itself to let the agent continue.
  const command = [...REAL_TIME, process.execPath, '-e', STOPPER, String(pid)];
  const child = spawn('chrt', command, { stdio: 'ignore' });
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

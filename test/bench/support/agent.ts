import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { cpuMsOf } from '../cpu-time.ts';
import { type Running, startChild } from './child-process.ts';
import { nodeArgs } from './node-args.ts';

/**
 * The agent under a load of its own: the real process, its checks by the agent protocol from a
 * service beside it that accepts no results, so that the measured work ends in the spool.
 */

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
const SERVICE = join(import.meta.dirname, '../drivers/agent-service.mjs');
/** The minimum of the protocol. */
export const PERIOD_MS = 1_000;

export interface Load {
  /** Bodies of the API; each check is due once in PERIOD_MS. */
  readonly checks: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
  /** Goes before its command: `['taskset', '--cpu-list', '0']`. */
  readonly prefix?: readonly string[];
  /** The offset of the nth check in its period, milliseconds; by default they are spread evenly. */
  readonly phaseMsOf?: (n: number) => number;
  /** Receives each line of its stdout: results and missed slots. */
  readonly onPrinted?: (line: string) => void;
}

export interface Throughput {
  readonly runs: number;
  readonly perSecond: number;
  readonly cpuMsEach: number;
}

export interface LoadedAgent {
  readonly pid: number;
  /** Passed runs in the measured time, and their CPU time. @throws Error if a run failed */
  measure(warmUpMs: number, durationMs: number, signal: AbortSignal): Promise<Throughput>;
}

/** Starts the agent, does the work, and stops the agent, also if the work fails. */
export async function withLoadedAgent<Value>(
  { checks, env = {}, prefix = [], phaseMsOf = spreadPhaseMs, onPrinted }: Load,
  work: (agent: LoadedAgent) => Promise<Value>,
): Promise<Value> {
  const folder = makeTempFolder();
  const started: Running[] = [];
  try {
    const service = await startChild(process.execPath, [SERVICE], {
      input: JSON.stringify({
        assignments: checks.map((check, n) => assignmentOf(check, n, phaseMsOf(n))),
      }),
      readyOn: { stream: 'stdout', pattern: /(\d+)\n/ },
    });
    started.push(service);
    const printing = onPrinted === undefined ? [] : ['--print-results'];
    const node = [process.execPath, ...nodeArgs(), MAIN, 'agent', ...printing];
    const [program = '', ...args] = [...prefix, ...node];
    const agent = await startChild(program, args, {
      env: {
        SERVICE_URL: `http://127.0.0.1:${service.firstLine}`,
        API_KEY: `pl_${'0'.repeat(32)}`,
        DATA_DIR: folder.file('data'),
        AGENT_HEALTH_PORT: '0',
        SHUTDOWN_GRACE_SECONDS: '1',
        EXTERNAL_OBSERVABILITY: 'off',
        SPOOL_MAX_MIB: '4096',
        ...env,
      },
      // Its port is served before it has checks.
      readyOn: { stream: 'stderr', pattern: /"port":(\d+).*checks loaded/s },
    });
    started.push(agent);
    if (onPrinted !== undefined && agent.child.stdout !== null) {
      createInterface({ input: agent.child.stdout }).on('line', onPrinted);
    }
    const metrics = `http://127.0.0.1:${agent.firstLine}/metrics`;
    return await work({
      pid: agent.pid,
      async measure(warmUpMs, durationMs, signal) {
        await delay(warmUpMs, undefined, { signal });
        if (agent.hasEnded()) throw new Error(`the agent ended: ${agent.stderr()}`);
        // The first scrape takes several times as long as the others.
        await runsOf(metrics);
        const before = await momentOf(agent.pid, metrics);
        await delay(durationMs, undefined, { signal });
        if (agent.hasEnded()) throw new Error(`the agent ended: ${agent.stderr()}`);
        const after = await momentOf(agent.pid, metrics);
        const seconds = (after.atMs - before.atMs) / 1000;
        const runs = after.passed - before.passed;
        const others = Object.entries(after.others)
          .map(([result, count]) => ({ result, count: count - (before.others[result] ?? 0) }))
          .filter(({ count }) => count > 0)
          .map(({ result, count }) => `${count} ended in ${result}`);
        if (runs === 0 || others.length > 0) {
          const counts = [`${runs} runs of the agent passed`, ...others].join(', ');
          throw new Error(`${counts}; it said: ${agent.stderr()}`);
        }
        return {
          runs,
          perSecond: runs / seconds,
          cpuMsEach: (after.cpuMs - before.cpuMs) / runs,
        };
      },
    });
  } finally {
    for (const running of started.reverse()) await running.stop();
    folder.remove();
  }
}

function spreadPhaseMs(n: number): number {
  return (n * 7) % PERIOD_MS;
}

function assignmentOf(check: object, n: number, phaseMs: number): object {
  const slots = { periodMs: PERIOD_MS, phaseMs, stride: 1, index: 0 };
  return { checkId: `check-${n}`, slots, check };
}

interface Runs {
  readonly passed: number;
  /** By outcome. */
  readonly others: Readonly<Record<string, number>>;
}

interface Moment extends Runs {
  readonly atMs: number;
  readonly cpuMs: number;
}

/**
 * Runs, time and CPU time. A scrape reads the runs before it renders the checks, so the time is read before
 * the scrape: the time between two moments contains the first scrape and not the second.
 */
async function momentOf(pid: number, metrics: string): Promise<Moment> {
  const atMs = performance.now();
  const cpuMs = cpuMsOf(pid);
  return { atMs, cpuMs, ...(await runsOf(metrics)) };
}

/** Finished runs, from the agent's metrics. */
async function runsOf(metrics: string): Promise<Runs> {
  const metricsText = await scraped(metrics).catch(() => scraped(metrics));
  let passed = 0;
  const others: Record<string, number> = {};
  for (const [, result = '', number = ''] of metricsText.matchAll(
    /^vedette_runs_total\{[^}]*result="(\w+)"[^}]*\} (\S+)$/gm,
  )) {
    if (result === 'passed') passed += Number(number);
    else others[result] = (others[result] ?? 0) + Number(number);
  }
  return { passed, others };
}

/** Uses a new connection: the agent may have closed a kept one. A busy agent may cut it short. */
async function scraped(url: string): Promise<string> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  return text(answer);
}

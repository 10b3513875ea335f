import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { CheckResult } from '../../src/model/result/result.ts';
import { quantile } from '../bench/row.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { HAS_CPU_CGROUP } from '../support/process/cpu-limit.ts';
import {
  HAS_MEMORY_CGROUP,
  makeOwnMemory,
  type OwnMemory,
} from '../support/process/memory-pressure.ts';
import { lacking } from '../support/process/system-needs.ts';
import {
  type Expected,
  HEALTHY_LIMIT_MS,
  type StarvationCheck,
  starvationChecks,
} from './support/starvation/starvation-checks.ts';
import {
  limitCpu,
  type StarvedAgent,
  startAgent,
  startHogs,
  startTargets,
  stopNowAndThen,
} from './support/starvation/starvation-fixture.ts';

const lacks =
  lacking({ commands: ['chrt', 'taskset', 'nice', 'perl', 'dd'], files: [] }) ??
  (HAS_CPU_CGROUP ? null : 'a CPU controller of cgroups') ??
  (HAS_MEMORY_CGROUP ? null : 'the memory controller of cgroup v1');

/** FINALs of healthy checks, for each condition. */
const WANTED = IS_NIGHTLY ? 1000 : 200;
/** Ends the wait for an agent that makes almost no progress. */
const MOST_MS = IS_NIGHTLY ? 1_500_000 : 200_000;

interface Starved {
  readonly name: string;
  readonly agent: StarvedAgent;
  readonly checks: readonly StarvationCheck[];
  /** The start, epoch milliseconds. */
  readonly fromMs: number;
  /** Response times of its health port. */
  readonly answerMs: number[];
}

interface Condition {
  /** The agent's CPU: hogs leave the other one to the rest. */
  readonly cpu: number;
  /** Checks of healthy targets; most run every ten seconds. */
  readonly healthy: number;
  readonly starve: (agent: StarvedAgent, memory: OwnMemory | null) => void;
  readonly hasOwnMemory?: true;
  /** The command that runs the agent's program. Default: Node. */
  readonly node?: readonly string[];
}

const STALLS = new URL('support/starvation/stalls.mjs', import.meta.url).href;

const CONDITIONS: Readonly<Record<string, Condition>> = {
  'a quota of 5 %': { cpu: 0, healthy: 120, starve: (agent) => limitCpu(agent, 5) },
  'a quota of 10 %': { cpu: 0, healthy: 120, starve: (agent) => limitCpu(agent, 10) },
  'a quota of 20 %': { cpu: 0, healthy: 120, starve: (agent) => limitCpu(agent, 20) },
  'neighbours at nice -20': { cpu: 1, healthy: 48, starve: () => startHogs(1, 2) },
  'a process stopped now and then': { cpu: 0, healthy: 48, starve: stopNowAndThen },
  'memory taken back now and then': {
    cpu: 0,
    healthy: 48,
    starve: (_, memory) => memory?.press(),
    hasOwnMemory: true,
  },
  'an event loop that stalls every 30 s': {
    cpu: 0,
    healthy: 48,
    starve: () => {},
    node: [process.execPath, '--import', STALLS],
  },
};

it.skipIf(lacks !== null)(
  `a starved agent reports no failure of a healthy target (lacking: ${lacks ?? 'nothing'})`,
  { timeout: MOST_MS + 60_000 },
  async () => {
    const targets = await startTargets();
    const starved: Starved[] = [];
    for (const [name, { cpu, healthy, starve, hasOwnMemory, node }] of Object.entries(CONDITIONS)) {
      const checks = starvationChecks(targets.ports, healthy);
      const memory = hasOwnMemory ? makeOwnMemory() : null;
      const agent = await startAgent(checks, cpu, memory?.node ?? node);
      starve(agent, memory);
      starved.push({ name, agent, checks, fromMs: Date.now(), answerMs: [] });
    }
    let asked = 0;
    const endMs = Date.now() + MOST_MS;
    const isDone = ({ agent, checks, fromMs }: Starved): boolean => {
      const { enough, unreported } = verdictOf(checks, agent, fromMs);
      return enough && unreported.length === 0;
    };
    while (Date.now() < endMs && !starved.every(isDone)) {
      await pause(500);
      // Each of them sometimes, and either path.
      const next = starved[Math.floor(asked / 2) % starved.length];
      const askedMs = Date.now();
      const answer = await next?.agent.ask(asked % 2 === 0 ? '/-/liveness' : '/metrics');
      expect(answer).not.toBe('');
      next?.answerMs.push(Date.now() - askedMs);
      asked += 1;
    }
    const longestMs = await targets.longestMs();
    const sickTargets = starved
      .flatMap(({ checks }) => checks)
      .filter(({ expected }) => expected === 'passed')
      .filter(({ targetName }) => (longestMs[targetName ?? ''] ?? 0) > HEALTHY_LIMIT_MS)
      .map(({ id }) => id);
    const verdicts = starved.map(({ name, agent, checks, fromMs, answerMs }) => ({
      name,
      // Of the health port: median and longest.
      askedMs: [0.5, 1].map((share) => Math.round(quantile(answerMs, share))),
      ...verdictOf(checks, agent, fromMs),
    }));
    console.info(verdicts.map((verdict) => JSON.stringify(verdict)).join('\n'));
    expect(sickTargets).toEqual([]);
    expect(verdicts).toEqual(
      verdicts.map((verdict) => ({
        ...verdict,
        falseFailures: 0,
        falseDegraded: 0,
        unreported: [],
        enough: true,
      })),
    );
  },
);

function healthyFinals(
  checks: readonly StarvationCheck[],
  results: readonly CheckResult[],
  fromMs: number,
): readonly CheckResult[] {
  const healthy = new Set(
    checks.filter(({ expected }) => expected === 'passed').map(({ id }) => id),
  );
  return results.filter(
    ({ resultType, checkId, checkRunId }) =>
      resultType === 'FINAL' && healthy.has(checkId) && checkRunId > fromMs,
  );
}

function verdictOf(checks: readonly StarvationCheck[], agent: StarvedAgent, fromMs: number) {
  const finals = healthyFinals(checks, agent.results, fromMs);
  const times = finals.map(({ responseTime }) => responseTime);
  const missed: Record<string, number> = {};
  for (const { reason, count } of agent.missed) missed[reason] = (missed[reason] ?? 0) + count;
  return {
    finals: finals.length,
    missed,
    enough: finals.length >= WANTED,
    falseFailures: finals.filter((result) => endOf(result) === 'failed').length,
    falseDegraded: finals.filter((result) => endOf(result) === 'degraded').length,
    unreported: checks
      .filter((check) => check.expected !== 'passed' && !isReported(check, agent, fromMs))
      .map(({ id }) => `${id}: ${whatCameOf(id, agent, fromMs)}`),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  };
}

/** From the first two slots of the check under starvation. */
function isReported(check: StarvationCheck, agent: StarvedAgent, fromMs: number): boolean {
  const { id, periodMs, expected } = check;
  return agent.results.some(
    (result) =>
      result.resultType === 'FINAL' &&
      result.checkId === id &&
      result.checkRunId > fromMs &&
      result.checkRunId <= fromMs + 2 * periodMs &&
      endOf(result) === expected,
  );
}

/** For diagnosis: the outcome of each of the check's slots. */
function whatCameOf(checkId: string, { results, missed }: StarvedAgent, fromMs: number): string {
  const ran = results
    .filter((result) => result.checkId === checkId && result.checkRunId > fromMs)
    .map((result) => [result.checkRunId, `${result.resultType} ${endOf(result)}`] as const);
  const lost = missed
    .filter((each) => each.checkId === checkId && each.lastSlot > fromMs)
    .map(({ slot, count, reason }) => [slot, `${count} ${reason}`] as const);
  return [...ran, ...lost]
    .sort(([one], [other]) => one - other)
    .map(([slotMs, what]) => `after ${slotMs - fromMs} ms ${what}`)
    .join(', ');
}

function endOf({ hasFailures, hasErrors, isDegraded }: CheckResult): Expected {
  if (hasFailures || hasErrors) return 'failed';
  return isDegraded ? 'degraded' : 'passed';
}

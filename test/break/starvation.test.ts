import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { StarvationCause } from '../../src/agent/run/starvation/starvation-cause.ts';
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
  PERIOD_SECONDS,
  type StarvationCheck,
  starvationChecks,
} from './support/starvation/checks.ts';
import {
  type StarvedAgent,
  startAgent,
  startHogs,
  startStalls,
  startTargets,
  stopNowAndThen,
} from './support/starvation/fixture.ts';
import { askHealth, type HealthAnswers } from './support/starvation/health.ts';
import { causesIn, type Gap, judgeFaulty, judgeHealthy } from './support/starvation/verdict.ts';

const lacks =
  lacking({ commands: ['chrt', 'taskset', 'nice', 'perl', 'dd'], files: [] }) ??
  (HAS_CPU_CGROUP ? null : 'a CPU controller of cgroups') ??
  (HAS_MEMORY_CGROUP ? null : 'the memory controller of cgroup v1');

/** FINALs of healthy checks that can be judged, for each condition. */
const WANTED = IS_NIGHTLY ? 1000 : 200;
/** Ends the wait for an agent that makes almost no progress. */
const MOST_MS = IS_NIGHTLY ? 1_500_000 : 200_000;
/** The same before the starvation. */
const MOST_CALM_MS = 90_000;
/** Bound of the health port's median response time; on a machine under load 40 it was a sixth. */
const MOST_ANSWER_MS = 1_000;

interface Condition {
  /** The agent's CPU: hogs leave the other one to the rest. */
  readonly cpu: number;
  /** Checks of healthy targets; most run every ten seconds. */
  readonly healthy: number;
  readonly starve: (agent: StarvedAgent, memory: OwnMemory | null) => void;
  /** The cause in the agent's log, if nothing else can starve the agent as much. */
  readonly cause?: StarvationCause;
  /**
   * Its share of a CPU alone can make the health port slow, and leave no time for two slots in a row: the time is
   * only printed, and later slots count, too.
   */
  readonly isSlow?: true;
  readonly hasOwnMemory?: true;
  /** The command that runs the agent's program. Default: Node. */
  readonly node?: readonly string[];
}

const STALLS = new URL('support/starvation/stalls.mjs', import.meta.url).href;

const quota = (percent: number): Condition => ({
  cpu: 0,
  healthy: 120,
  starve: ({ cpu }) => cpu?.limit(percent),
});
const CONDITIONS: Readonly<Record<string, Condition>> = {
  'a quota of 5 %': { ...quota(5), cause: 'quota', isSlow: true },
  'a quota of 10 %': quota(10),
  'a quota of 20 %': quota(20),
  'neighbours at nice -20': {
    cpu: 1,
    healthy: 48,
    starve: (agent) => startHogs(agent, 1, 2),
    cause: 'neighbours',
  },
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
    starve: startStalls,
    node: [process.execPath, '--import', STALLS],
  },
};

interface Started {
  readonly name: string;
  readonly condition: Condition;
  readonly checks: readonly StarvationCheck[];
  readonly agent: StarvedAgent;
  readonly memory: OwnMemory | null;
  readonly calm: HealthAnswers;
}

/** A starved agent. */
interface Starved extends Started {
  /** Begin of the starvation, epoch milliseconds. */
  readonly fromMs: number;
  /** Length of its log by then. */
  readonly logLength: number;
  readonly health: HealthAnswers;
}

it.skipIf(lacks !== null)(
  `a starved agent reports no failure of a healthy target (lacking: ${lacks ?? 'nothing'})`,
  { timeout: MOST_CALM_MS + MOST_MS + 60_000 },
  async () => {
    const targets = await startTargets();
    const started: Started[] = [];
    for (const [name, condition] of Object.entries(CONDITIONS)) {
      const checks = starvationChecks(targets.ports, condition.healthy);
      const memory = condition.hasOwnMemory ? makeOwnMemory() : null;
      const agent = await startAgent(checks, condition.cpu, memory?.node ?? condition.node);
      started.push({ name, condition, checks, agent, memory, calm: askHealth(agent) });
    }
    // An agent that starts takes CPU from the others, and its code runs for the first time.
    const calmEndMs = Date.now() + MOST_CALM_MS;
    while (started.some((one) => notYetRun(one).length > 0) && Date.now() < calmEndMs) {
      await pause(500);
    }
    expect(started.flatMap(notYetRun)).toEqual([]);

    await Promise.all(started.map(({ calm }) => calm.stop()));
    for (const { condition, agent, memory } of started) condition.starve(agent, memory);
    const fromMs = Date.now();
    const starved = started.map((one) => {
      const logLength = one.agent.log().length;
      return { ...one, fromMs, logLength, health: askHealth(one.agent) };
    });
    let gaps: readonly Gap[] = [];
    let verdicts: readonly Verdict[] = [];
    let isOver = false;
    while (!isOver && Date.now() < fromMs + MOST_MS) {
      await pause(500);
      gaps = await targets.gaps();
      verdicts = starved.map((one) => verdictOf(one, gaps));
      isOver =
        verdicts.some(({ isHopeless }) => isHopeless) ||
        verdicts.every(({ awaited }) => awaited.length === 0);
    }
    const gapMs = gaps.filter(([, toMs]) => toMs > fromMs).map(([from, to]) => to - from);
    console.info(
      [
        { gaps: gapMs.length, longestGapMs: Math.max(0, ...gapMs) },
        ...verdicts.map(({ summary }) => summary),
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    expect(
      verdicts.flatMap(({ summary, problems, awaited }) =>
        // Without this, a run that ends early would lack the rest.
        [...problems, ...(isOver ? [] : awaited)].map((problem) => `${summary.name}: ${problem}`),
      ),
    ).toEqual([]);
  },
);

/** A sentence for each check that should have run by now: those that run every ten seconds. */
function notYetRun({ name, checks, agent }: Started): readonly string[] {
  const ran = new Set(
    agent.results.filter(({ resultType }) => resultType === 'FINAL').map(({ checkId }) => checkId),
  );
  return checks
    .filter(({ id, periodMs }) => periodMs === PERIOD_SECONDS * 1000 && !ran.has(id))
    .map(({ id }) => `${name}: ${id} had no FINAL before the starvation`);
}

interface Verdict {
  readonly summary: Readonly<Record<string, unknown>> & { readonly name: string };
  /** Sentences: the faults so far. */
  readonly problems: readonly string[];
  /** Sentences: the reports that are still missing. */
  readonly awaited: readonly string[];
  /** Waiting for the rest is useless. */
  readonly isHopeless: boolean;
}

function verdictOf(starved: Starved, gaps: readonly Gap[]): Verdict {
  const { name, condition, checks, agent, calm, health, fromMs, logLength } = starved;
  const observed = { results: agent.results, missed: agent.missed, fromMs, gaps };
  const healthy = judgeHealthy(checks, observed);
  const { finals, notJudged, falseFailures, falseDegraded, timesMs } = healthy;
  const faulty = checks
    .filter(({ expected }) => expected !== 'passed')
    .map((check) => ({
      id: check.id,
      verdict: judgeFaulty(check, observed, { mayLackCpu: condition.isSlow === true }),
    }));
  const missed: Record<string, number> = {};
  for (const { slot, reason, count } of agent.missed) {
    if (slot > fromMs) missed[reason] = (missed[reason] ?? 0) + count;
  }
  const causes = causesIn(agent.log().slice(logLength));
  const unreported = faulty.flatMap(({ id, verdict }) =>
    verdict.kind === 'unreported' ? [`${id} is not reported in two periods: ${verdict.slots}`] : [],
  );
  const answerMs = health.timesMs();
  return {
    summary: {
      name,
      // Answers of the health port: median and longest, before and in the starvation.
      calmMs: calm.timesMs(),
      answerMs,
      finals,
      // They prove nothing: the targets stood still meanwhile, as when a hypervisor takes the CPU.
      notJudged,
      missed,
      falseFailures: falseFailures.length,
      falseDegraded: falseDegraded.length,
      // From the slot to the report.
      reportMs: Object.fromEntries(
        faulty.map(({ id, verdict }) => [
          id,
          verdict.kind === 'reported' ? verdict.afterMs : verdict.kind,
        ]),
      ),
      causes,
      p50Ms: quantile(timesMs, 0.5),
      p99Ms: quantile(timesMs, 0.99),
    },
    problems: [
      ...falseFailures.map((what) => `a healthy target failed: ${what}`),
      ...falseDegraded.map((what) => `a healthy target is degraded: ${what}`),
      ...unreported,
      ...health.failures,
    ],
    awaited: [
      ...(finals < WANTED ? [`${finals} FINALs of healthy checks, not ${WANTED}`] : []),
      ...faulty.flatMap(({ id, verdict }) =>
        verdict.kind === 'pending'
          ? [`${id} is not reported, and not all of its slots are accounted for: ${verdict.slots}`]
          : [],
      ),
      ...(condition.isSlow || answerMs[0] <= MOST_ANSWER_MS
        ? []
        : [`the health port takes ${answerMs[0]} ms (median), more than ${MOST_ANSWER_MS} ms`]),
      ...(condition.cause !== undefined && !causes.includes(condition.cause)
        ? [`the log names the causes [${causes}], not ${condition.cause}`]
        : []),
    ],
    isHopeless: unreported.length > 0 || health.failures.length > 0,
  };
}

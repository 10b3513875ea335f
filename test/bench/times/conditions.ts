import { limitCpu } from '../../support/process/cpu-limit.ts';
import { PERIOD_MS } from '../support/agent.ts';
import { startChild } from '../support/child-process.ts';
import { onCore } from './cores.ts';

/** Each probe runs once in a period. */
export interface Load {
  readonly checks: number;
  /** The offset in the period, milliseconds. */
  phaseMsOf(n: number): number;
  /** A shorter window may contain no slot. */
  readonly leastWindowMs: number;
}

/** The load beside the measured process. */
export interface Condition {
  /** Its name in the table. */
  readonly name: string;
  /** Starts it for the process, which has a core of its own; the returned function ends it. */
  begin(pid: number, core: number): Promise<() => Promise<void>>;
}

const QUOTA_PERCENT = 20;
const STEADY_RUNS = 100;
const BUSY_RUNS = 500;
const BURST_RUNS = 300;

const calm: Condition['begin'] = async () => async () => {};

async function besideHog(_pid: number, core: number): Promise<() => Promise<void>> {
  const [program = '', ...args] = [...onCore(core), process.execPath, '-e', 'for (;;);'];
  const hog = await startChild(program, args);
  return () => hog.stop();
}

async function atQuota(pid: number): Promise<() => Promise<void>> {
  const lift = limitCpu(pid, QUOTA_PERCENT);
  return async () => lift();
}

export interface LoadWithConditions {
  readonly load: Load;
  readonly conditions: readonly Condition[];
}

const spread = (checks: number): Load => ({
  checks,
  phaseMsOf: (n) => Math.floor((n / checks) * PERIOD_MS),
  leastWindowMs: 0,
});

/** In the order of the table. */
export const LOADS: readonly LoadWithConditions[] = [
  {
    load: spread(STEADY_RUNS),
    conditions: [
      { name: 'calm', begin: calm },
      { name: 'beside a CPU hog', begin: besideHog },
      { name: `at a CPU quota of ${QUOTA_PERCENT} %`, begin: atQuota },
    ],
  },
  {
    load: spread(BUSY_RUNS),
    conditions: [{ name: `${BUSY_RUNS} runs a second`, begin: calm }],
  },
  {
    load: { checks: BURST_RUNS, phaseMsOf: () => 0, leastWindowMs: PERIOD_MS },
    conditions: [{ name: `bursts of ${BURST_RUNS}`, begin: calm }],
  },
];

export const MOST_CHECKS = Math.max(...LOADS.map(({ load }) => load.checks));

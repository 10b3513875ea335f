import type { PartContext } from '../part.ts';
import { withLoadedAgent } from './agent.ts';
import type { Measurement } from './compare.ts';
import { durationsOf } from './durations.ts';
import { manyChecks } from './many-checks.ts';

export interface AgentLoads {
  /** More checks than the agent can run: its rate is its limit. Missed slots cost CPU time, too. */
  readonly saturated: Measurement;
  /** Nearly the rate that it reached when last saturated: its CPU time is that of the runs alone. */
  readonly agent: Measurement;
  /** This many checks a second. */
  at(runsASecond: number): Measurement;
}

/** The share of its limit at which it misses no slot. */
const NEARLY = 0.9;

/**
 * The ways to load an agent with checks of one kind.
 *
 * @param mostRunsASecond more than one core can do
 * @param checkOf the type and request of the nth check
 */
export function agentLoads(
  mostRunsASecond: number,
  checkOf: (n: number) => object,
  context: PartContext,
  env: Readonly<Record<string, string>> = {},
): AgentLoads {
  const { warmUpMs, measureMs } = durationsOf(context);
  const at = (runsASecond: number) => async () => {
    const checks = manyChecks(runsASecond, checkOf);
    const { perSecond, cpuMsEach } = await withLoadedAgent({ checks, env }, (loaded) =>
      loaded.measure(warmUpMs, measureMs, context.signal),
    );
    return { perSecond, cpuMsEach };
  };
  let canDo = 0;
  return {
    at,
    async saturated() {
      const figures = await at(mostRunsASecond)();
      canDo = figures.perSecond;
      return figures;
    },
    agent: () => at(Math.max(1, Math.round(canDo * NEARLY)))(),
  };
}

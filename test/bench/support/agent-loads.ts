import type { PartContext } from '../part.ts';
import { withLoadedAgent } from './agent.ts';
import type { Measurement } from './compare.ts';
import { durationsOf } from './durations.ts';
import { manyChecks } from './many-checks.ts';

export interface AgentLoads {
  /** Offered more than it can do: its rate is what it can. What it has no time for costs it, too. */
  readonly saturated: Measurement;
  /** Offered nearly what it could do when it was saturated last: its CPU for each is that of the work. */
  readonly agent: Measurement;
  /** Offered so many a second. */
  at(runsASecond: number): Measurement;
}

/** Of what it can do, so that it misses no slot. */
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

import type { CheckState } from '../../model/result/check-state.ts';

/** The live agents of one private location. */
export type LiveAgentCount = {
  readonly accountId: string;
  readonly location: string;
  readonly agents: number;
};

/** The current counts of all accounts. */
export interface ServiceCounts {
  /** null before the first reading. */
  readonly checks: Readonly<Record<CheckState, number>> | null;
  readonly agents: readonly LiveAgentCount[];
  /** Private locations beyond those that `agents` names. */
  readonly locationsLeftOut: number;
}

export const NO_SERVICE_COUNTS: ServiceCounts = { checks: null, agents: [], locationsLeftOut: 0 };

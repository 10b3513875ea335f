/** Bounds on what a location's agents may claim: anyone with its key can start any number of agents. */
export interface AgentLimits {
  /** Maximum number of agents of a location; `COUNTS_TOWARDS_LIMIT` defines which ones count. */
  readonly perLocation: number;
  /** Maximum concurrency of an agent that counts when checks are shared among agents. */
  readonly concurrency: number;
}

export const DEFAULT_AGENT_LIMITS: AgentLimits = { perLocation: 100, concurrency: 1_000 };

/** An agent without a lease counts for this long after its last poll. */
export const AGENT_COUNTS_FOR_MINUTES = 5;

/** Stored agents of a location, including those that are gone and those that were ended. */
export const MAX_KNOWN_AGENTS = 1_000;

/** The concurrency that counts for an agent's share of the checks. */
export function countedConcurrency(concurrency: number, limits: AgentLimits): number {
  return Math.min(concurrency, limits.concurrency);
}

/** How far the agents of a location are believed: who has its key can make up any number of them. */
export interface AgentLimits {
  /** Agents of a location at once; see `HAS_AGENT_SLOT` for which ones count. */
  readonly perLocation: number;
  /** What an agent's concurrency counts for its share of the checks, at most. */
  readonly concurrency: number;
}

export const DEFAULT_AGENT_LIMITS: AgentLimits = { perLocation: 100, concurrency: 1_000 };

/** Agents of a location that are known, those that are gone and those that were ended among them. */
export const MAX_KNOWN_AGENTS = 1_000;

/** What counts for the share of an agent that says it does so many runs at once. */
export function countedConcurrency(concurrency: number, limits: AgentLimits): number {
  return Math.min(concurrency, limits.concurrency);
}

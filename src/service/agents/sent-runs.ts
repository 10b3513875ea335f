import type { AgentOfLocation } from './share.sql.ts';

/** Agents that are remembered; the one that polled longest ago makes way. */
const MAX_AGENTS = 10_000;

/**
 * Which one-offs an agent was told by this process. It holds them until they have run, and is told
 * of them with every answer; but only one that it was not told yet ends the holding of a poll.
 */
export class SentRuns {
  readonly #byAgent = new Map<string, ReadonlySet<string>>();

  hasNew(agent: AgentOfLocation, runIds: readonly string[]): boolean {
    const told = this.#byAgent.get(keyOf(agent));
    return runIds.some((runId) => told?.has(runId) !== true);
  }

  told(agent: AgentOfLocation, runIds: readonly string[]): void {
    const key = keyOf(agent);
    this.#byAgent.delete(key);
    if (runIds.length === 0) return;
    this.#byAgent.set(key, new Set(runIds));
    if (this.#byAgent.size <= MAX_AGENTS) return;
    const [oldest] = this.#byAgent.keys();
    if (oldest !== undefined) this.#byAgent.delete(oldest);
  }
}

function keyOf({ locationId, agentId }: AgentOfLocation): string {
  return `${locationId} ${agentId}`;
}

import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { conflict, type ServiceError } from '../errors.ts';
import type { AgentLimits } from './agent-limits.ts';
import type { AgentOfLocation } from './sql.ts';

/** Why a poll with a valid key is refused. Agents act on it: see poll-failures.ts of the agent. */
export const REFUSAL_REASONS = ['too_many_agents', 'ended'] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

const LOG_PERIOD_MS = 600_000;
/** Maximum number of pairs of location and reason whose last log line is remembered. */
const MAX_LOGGED = 1_000;

/** Counts refused polls, and logs them: once in ten minutes for each location and reason. */
export class AgentRefusals {
  readonly #limits: AgentLimits;
  readonly #throttled: ThrottledLog;
  readonly #counts: Record<RefusalReason, number> = { too_many_agents: 0, ended: 0 };

  constructor({
    clock,
    log,
    limits,
  }: {
    readonly clock: Clock;
    readonly log: Logger;
    readonly limits: AgentLimits;
  }) {
    this.#limits = limits;
    this.#throttled = new ThrottledLog(clock, log, {
      periodMs: LOG_PERIOD_MS,
      maxKinds: MAX_LOGGED,
      countFields: (count) => ({ refusedBefore: count - 1 }),
    });
  }

  /** Polls refused since the start. */
  get counts(): Readonly<Record<RefusalReason, number>> {
    return this.#counts;
  }

  /** @returns the error with which the caller answers the poll */
  refuse(reason: RefusalReason, agent: AgentOfLocation): ServiceError {
    this.#counts[reason] += 1;
    const error = this.#errorOf(reason, agent);
    this.#throttled.warn(
      `${reason} ${agent.locationId}`,
      { reason, ...agent },
      `refused an agent's poll: ${error.message}`,
    );
    return error;
  }

  #errorOf(reason: RefusalReason, { locationId, agentId }: AgentOfLocation): ServiceError {
    const agents = `/v1/private-locations/${locationId}/agents`;
    if (reason === 'ended') {
      return conflict(
        `Agent ${agentId} was ended by an operator: allow it again with an API key of role write and POST ${agents}/${agentId}/allow; to run another agent on this machine, start it with an empty DATA_DIR`,
        { reason },
      );
    }
    const limit = this.#limits.perLocation;
    return conflict(
      `The location has ${limit} agents, as many as MAX_AGENTS_PER_LOCATION of the service allows: stop agents, end them with DELETE ${agents}/{agentId}, or raise the setting; a stopped agent counts for 5 more minutes`,
      { reason, limit },
    );
  }
}

import { batched } from '../../runtime/batched.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { PollRequest, PollResponse } from '../../wire/v1/poll.ts';
import type { ReleaseRequest, ReleaseResponse } from '../../wire/v1/release.ts';
import type { CheckRuns } from '../check-runs/check-runs.ts';
import type { Sql } from '../database/store.ts';
import { invalid, notFound } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { findPrivateLocation } from '../private-locations/shared.sql.ts';
import { type AgentLimits, countedConcurrency, DEFAULT_AGENT_LIMITS } from './agent-limits.ts';
import { AgentRefusals, type RefusalReason } from './agent-refusals.ts';
import { lockAssignments } from './assignment/lock.sql.ts';
import { allowAgent, type Renewal, renewLeases } from './lease.sql.ts';
import { endAgent, releaseLease, renewOrAcquireLease } from './lease.ts';
import { createPollResponses, type PollResponsesParts } from './poll-responses.ts';
import { pageMarkerOf } from './sent-checks.ts';
import { type KnownAgent, listAgents } from './sql.ts';

export interface AgentsParts extends PollResponsesParts {
  readonly log: Logger;
  readonly checkRuns: Pick<CheckRuns, 'claim' | 'close' | 'toBeCancelled'>;
  /** Default: DEFAULT_AGENT_LIMITS. */
  readonly agentLimits?: AgentLimits;
  /** Masks the account's secrets in a text of its agents. */
  readonly scrubberOf: (sql: Sql, accountId: string) => Promise<Pick<Scrubber, 'text'>>;
}

/** The agents of private locations. */
export interface Agents {
  /**
   * Renews the agent's lease. The poll is held until something changes for the agent, at most
   * `pollHoldMs(leaseMs)`; when the signal aborts it is answered at once with what there is.
   *
   * An ended agent that believes it has a lease first gets an answer without checks: agents of the
   * previous release would continue theirs after an error.
   *
   * @throws ServiceError 409 with the attribute `reason`: `replaced` where another process has taken
   *   the agent's lease, `too_many_agents` where the location is full, `ended` where an operator
   *   ended the agent; 400 for an unknown page marker; 401 where the location is gone
   */
  poll(caller: AgentCaller, request: PollRequest, signal: AbortSignal): Promise<PollResponse>;
  release(caller: AgentCaller, request: ReleaseRequest): Promise<ReleaseResponse>;
  /** Oldest first; includes ended agents, and for a month those that are gone. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly ListedAgent[]>;
  /**
   * Ends an agent: its checks move at once, and its polls are refused until it is allowed again. Its
   * results are still accepted. Idempotent.
   *
   * @throws ServiceError 404 where there is no such location or agent
   */
  end(accountId: string, locationId: string, agentId: string): Promise<void>;
  /**
   * Lets an ended agent poll again. Idempotent.
   *
   * @throws ServiceError 404 where there is no such location or agent
   */
  allow(accountId: string, locationId: string, agentId: string): Promise<void>;
  /** Polls refused since the start, by reason. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
}

export interface ListedAgent extends KnownAgent {
  readonly countedConcurrency: number;
}

export function createAgents(parts: AgentsParts): Agents {
  const { store, checkRuns, leaseMs, scrubberOf } = parts;
  const limits = parts.agentLimits ?? DEFAULT_AGENT_LIMITS;
  const refusals = new AgentRefusals({ ...parts, limits });
  const answers = createPollResponses(parts);
  const renew = batched((locationId, renewals: readonly Renewal[]) =>
    renewLeases(store, { locationId, renewals }),
  );

  /** Masks the agent's reasons for refusing checks: they may quote secrets of the checks. */
  const scrubbed = async (accountId: string, request: PollRequest): Promise<PollRequest> => {
    if (request.refused.length === 0) return request;
    const scrubber = await scrubberOf(store, accountId);
    const refused = request.refused.map((one) => ({
      ...one,
      problem: scrubber.text(one.problem),
    }));
    return { ...request, refused };
  };

  return {
    async poll(caller, sent, signal) {
      const { accountId, locationId } = caller;
      const request = await scrubbed(accountId, sent);
      const marker = request.page === null ? null : pageMarkerOf(request.page);
      if (request.page !== null && marker === null) {
        throw invalid([bodyProblem(['page'], 'must be the nextPage of the previous response')]);
      }
      const { agentId, done } = request;
      const lease = await renewOrAcquireLease({ store, renew, leaseMs, limits }, caller, request);
      if (typeof lease === 'string') {
        // Between two pages, an empty answer would make the agent apply only the pages that it has so far.
        const believesInLease = request.epoch > 0 && marker === null;
        if (lease !== 'ended' || !believesInLease) {
          throw refusals.refuse(lease, { locationId, agentId });
        }
        return answers.withoutChecks(caller, agentId);
      }
      const who = { accountId, locationId, agentId, epoch: lease.epoch };
      if (done.length > 0) await checkRuns.close(store, who, done);
      const poll = { who, request, lease };
      if (marker === null) return answers.hold(poll, signal);
      const page = await answers.furtherPage(poll, marker);
      if (page === 'ended') throw refusals.refuse('ended', who);
      return page;
    },

    async release(caller, request) {
      const { accountId, locationId } = caller;
      const { agentId, epoch, done } = request;
      const who = { accountId, locationId, agentId, epoch };
      if (done.length > 0) await checkRuns.close(store, who, done);
      return { released: await releaseLease(store, caller, request) };
    },

    async list(accountId, locationId, page) {
      await requireLocation(store, accountId, locationId);
      const found = await listAgents(store, { accountId, locationId, ...rangeOf(page) });
      return found.map((agent) => ({
        ...agent,
        countedConcurrency: countedConcurrency(agent.concurrency, limits),
      }));
    },

    end: (accountId, locationId, id) =>
      store.transaction(async (tx) => {
        await requireLocation(tx, accountId, locationId);
        // The agent's poll may be about to acquire a lease.
        await lockAssignments(tx, { locationId, whenBusy: 'wait' });
        if (!(await endAgent(tx, { locationId, id }))) throw notFound('agent');
      }),

    async allow(accountId, locationId, id) {
      await requireLocation(store, accountId, locationId);
      if (!(await allowAgent(store, { locationId, id }))) throw notFound('agent');
    },

    refusals: refusals.counts,
  };
}

async function requireLocation(sql: Sql, accountId: string, id: string): Promise<void> {
  if ((await findPrivateLocation(sql, { accountId, id })) === null) {
    throw notFound('private location');
  }
}

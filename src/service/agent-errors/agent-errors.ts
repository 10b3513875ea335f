import type { ErrorsRequest, ErrorsResponse } from '../../wire/v1/error-report.ts';
import { isKnownAgent } from '../agents/shared.sql.ts';
import type { Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { findPrivateLocation } from '../private-locations/shared.sql.ts';
import { type AgentError, insertAgentErrors, listAgentErrors, trimAgentErrors } from './sql.ts';

export type { AgentError } from './sql.ts';

/** Maximum number of stored errors of a location. Beyond it, errors of the agents with the most go first. */
export const MAX_AGENT_ERRORS = 1_000;
/** Maximum number of stored errors of an agent: one agent must not displace the errors of all others. */
export const MAX_ERRORS_PER_AGENT = 100;

/**
 * The agents' own errors: external observability (src/agent/README.md, "Error reports").
 */
export interface AgentErrors {
  /**
   * Deletes older errors: of the agent beyond MAX_ERRORS_PER_AGENT; beyond MAX_AGENT_ERRORS of the
   * location, those of the agents with the most.
   *
   * @throws ServiceError 409 with the attribute `reason` `unknown_agent` where the location has no such
   *   agent: a client with the location's key could invent any number of them
   */
  take(caller: AgentCaller, request: ErrorsRequest): Promise<ErrorsResponse>;
  /** Newest first. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly AgentError[]>;
}

export function createAgentErrors({ store }: { readonly store: Store }): AgentErrors {
  return {
    async take({ accountId, locationId }, { reports, ...agent }) {
      if (reports.length === 0) return { stored: 0 };
      const { agentId } = agent;
      if (!(await isKnownAgent(store, { locationId, id: agentId }))) {
        throw conflict(
          `Agent ${agentId} must complete a successful poll before it can report errors`,
          { reason: 'unknown_agent' },
        );
      }
      const errors = reports.map(({ firstAt, lastAt, ...error }) => ({
        ...error,
        firstAt: new Date(firstAt),
        lastAt: new Date(lastAt),
      }));
      const stored = await insertAgentErrors(store, { accountId, locationId, ...agent, errors });
      await trimAgentErrors(store, {
        accountId,
        locationId,
        ofEachAgent: MAX_ERRORS_PER_AGENT,
        inAll: MAX_AGENT_ERRORS,
      });
      return { stored };
    },

    async list(accountId, locationId, page) {
      const location = await findPrivateLocation(store, { accountId, id: locationId });
      if (location === null) throw notFound('private location');
      return listAgentErrors(store, { accountId, locationId, ...rangeOf(page) });
    },
  };
}

import type { ErrorsAnswer, ErrorsRequest } from '../../wire/v1/error-report.ts';
import { notFound } from '../errors.ts';
import {
  type AgentError,
  insertAgentErrors,
  listAgentErrors,
  trimAgentErrors,
} from '../store/agent-errors.ts';
import type { Store } from '../store/port.ts';
import { findPrivateLocation } from '../store/private-locations.ts';
import type { AgentCaller } from './location-keys.ts';
import { type Page, rangeOf } from './paging.ts';

export type { AgentError } from '../store/agent-errors.ts';

/** Of each location the newest ones. */
export const MAX_AGENT_ERRORS = 1_000;

/** The agents' own errors: external observability (SEMANTICS 4). */
export interface AgentErrors {
  /** Older ones of the location make way. */
  take(caller: AgentCaller, request: ErrorsRequest): Promise<ErrorsAnswer>;
  /** Newest first. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly AgentError[]>;
}

export function createAgentErrors({ store }: { readonly store: Store }): AgentErrors {
  return {
    async take({ accountId, locationId }, { reports, ...agent }) {
      if (reports.length === 0) return { stored: 0 };
      const errors = reports.map(({ firstAt, lastAt, ...error }) => ({
        ...error,
        firstAtMs: firstAt,
        lastAtMs: lastAt,
      }));
      const stored = await insertAgentErrors(store, { accountId, locationId, ...agent, errors });
      await trimAgentErrors(store, { accountId, locationId, keep: MAX_AGENT_ERRORS });
      return { stored };
    },

    async list(accountId, locationId, page) {
      const location = await findPrivateLocation(store, { accountId, id: locationId });
      if (location === null) throw notFound('private location');
      return listAgentErrors(store, { accountId, locationId, ...rangeOf(page) });
    },
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  PROTOCOL_MISMATCH_STATUS,
  protocolMismatchOf,
  UPGRADE_HEADER_VALUE,
} from '../../../wire/v1/error-response.ts';
import { HEADERS } from '../../../wire/v1/limits.ts';
import { ServiceError } from '../../errors.ts';
import type { AgentCaller } from '../../private-locations/location-keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the route is not for agents. */
    agent: AgentCaller | null;
  }
}

/**
 * Refuses agents of another protocol version, before their key is looked up: their requests may have
 * another meaning.
 *
 * @throws ServiceError 426 that names the side to upgrade, with the headers of RFC 9110 15.5.22
 */
export function checkProtocol(request: FastifyRequest, reply: FastifyReply): void {
  const received = request.headers[HEADERS.protocol];
  const mismatch = protocolMismatchOf(Array.isArray(received) ? received.join() : received);
  if (mismatch === null) return;
  // RFC 9110 7.8: a sender of Upgrade names it in Connection. Keeps a `close` in it.
  const connection = reply.getHeader('connection');
  throw new ServiceError(PROTOCOL_MISMATCH_STATUS, mismatch.message, {
    attributes: mismatch.attributes,
    headers: {
      upgrade: UPGRADE_HEADER_VALUE,
      connection: connection === undefined ? 'upgrade' : `${String(connection)}, upgrade`,
    },
  });
}

/**
 * The agent that makes the request.
 *
 * @throws ServiceError 500 on a route that is not for agents: a programming error
 */
export function agentOf({ agent }: Pick<FastifyRequest, 'agent'>): AgentCaller {
  if (agent === null) throw new ServiceError(500, 'The route asks for an agent and is for others');
  return agent;
}

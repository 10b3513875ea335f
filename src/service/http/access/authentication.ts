import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { forbidden, ServiceError } from '../../errors.ts';
import type { AgentCaller } from '../../private-locations/location-keys.ts';
import { checkProtocol } from './agent-access.ts';
import { type Authenticator, type Caller, covers, type KeyHolders } from './authenticator.ts';
import { createIdentify } from './identify.ts';
import { requireAccess, routeAccess } from './route-access.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the route is public, or for agents. */
    caller: Caller | null;
  }
}

/** For each address; more of them get 429. */
const MAX_WRONG_KEYS_PER_MINUTE = 100;

export interface AuthenticationParts {
  readonly authenticator: Authenticator;
  readonly locationKeys: KeyHolders<AgentCaller>;
  readonly clock: Clock;
}

/**
 * Authenticates users by API key (src/service/README.md, "The API"), which must have the role of the
 * route, and agents by location key (src/agent/README.md, "Rotating the location key"). Every route
 * declares who may use it, or the start fails. Neither kind of key is accepted in place of the other.
 */
export function addAuthentication(app: FastifyInstance, parts: AuthenticationParts): void {
  const { authenticator, locationKeys, clock } = parts;
  const countWrongKeys = app.createRateLimit({ max: MAX_WRONG_KEYS_PER_MINUTE });
  const shared = { clock, countWrongKeys };
  const identifyCaller = createIdentify({ kind: 'vk', holders: authenticator, ...shared });
  const identifyAgent = createIdentify({ kind: 'pl', holders: locationKeys, ...shared });

  app.decorateRequest('caller', null);
  app.decorateRequest('agent', null);
  app.addHook('onRoute', requireAccess);
  app.addHook('onRequest', async (request, reply) => {
    // An unknown path gets the same answer with and without a key, so it reveals nothing.
    if (request.is404) return;
    const access = routeAccess(request.routeOptions.config);
    if (access.kind === 'public') return;
    if (access.kind === 'agent') {
      checkProtocol(request, reply);
      request.agent = await identifyAgent(request);
      return;
    }
    const caller = await identifyCaller(request);
    request.caller = caller;
    if (access.kind !== 'role' || !covers(caller.role, access.role)) {
      const needed = access.kind === 'role' ? access.role : 'admin';
      throw forbidden(`This needs a key with the role ${needed}; this one has ${caller.role}`, {
        role: caller.role,
        needed,
      });
    }
  });
}

/**
 * The user that makes the request.
 *
 * @throws ServiceError 500 on a route that is not for users: a programming error
 */
export function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (caller === null) {
    throw new ServiceError(500, 'The route asks for a caller and is public or for agents');
  }
  return caller;
}

/** Names the resource of the path, in the account of the user that makes the request. */
export function keyOf<Id extends string | number>(
  request: Pick<FastifyRequest, 'caller'> & { readonly params: { readonly id: Id } },
): AccountKey<Id> {
  return { accountId: callerOf(request).accountId, id: request.params.id };
}

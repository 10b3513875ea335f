import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Role } from '../../../model/enums.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { badToken, forbidden, notSignedIn, ServiceError } from '../../errors.ts';
import type { AgentCaller } from '../../private-locations/location-keys.ts';
import { checkProtocol } from './agent-access.ts';
import {
  type Authenticator,
  type Caller,
  type KeyHolders,
  roleCovers,
  type SignedIn,
} from './caller.ts';
import { createIdentify } from './identify.ts';
import { KEY_TTL_MS, KeyCache, MAX_CACHED_KEYS } from './key-cache.ts';
import { keyHashOf, tokenHashOf } from './key-hashes.ts';
import { type RouteAccess, requireAccess, routeAccess } from './route-access.ts';
import { requireOwnPage } from './same-origin.ts';
import type { ServiceAddress } from './service-address.ts';
import { sessionTokenOf } from './session-cookie.ts';
import { wrongKeysOf } from './wrong-keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the route is public, or for agents, or the user belongs to no account. */
    caller: Caller | null;
    /** Null if the route is public, or the request has a key. */
    signedIn: SignedIn | null;
  }
  interface FastifyInstance {
    /** For public routes that also serve users: the user of the request's cookie, if any. */
    identifyUser(request: FastifyRequest): Promise<SignedIn | null>;
  }
}

export interface AuthenticationParts {
  readonly authenticator: Authenticator;
  readonly locationKeys: KeyHolders<AgentCaller>;
  readonly sessions: KeyCache<SignedIn>;
  readonly serviceAddress: ServiceAddress;
  readonly clock: Clock;
}

/**
 * Authenticates API keys and users who are signed in (src/service/README.md, "The API"), who must have
 * the role of the route, and agents by location key (src/agent/README.md, "Rotating the location key").
 * Every route declares who may use it, or the start fails. No kind of key is accepted in place of
 * another.
 */
export function addAuthentication(app: FastifyInstance, parts: AuthenticationParts): void {
  const { authenticator, locationKeys, sessions, serviceAddress, clock } = parts;
  const countWrongKeys = wrongKeysOf(app);
  const cacheOf = <Holder>(holders: KeyHolders<Holder>): KeyCache<Holder> =>
    new KeyCache({ holders, clock, ttlMs: KEY_TTL_MS, maxEntries: MAX_CACHED_KEYS });
  const findCaller = createIdentify({ keys: cacheOf(authenticator), countWrongKeys });
  const findAgent = createIdentify({ keys: cacheOf(locationKeys), countWrongKeys });
  const findUser = createIdentify({ keys: sessions, countWrongKeys });

  const identifyCaller = async (request: FastifyRequest): Promise<Caller> => {
    const hash = keyHashOf(request.headers.authorization, 'vk');
    const caller = hash === null ? null : await findCaller(request, hash);
    if (caller === null) throw badToken();
    requireAccount(request, caller.accountId);
    return caller;
  };
  const identifyAgent = async (request: FastifyRequest): Promise<AgentCaller> => {
    const hash = keyHashOf(request.headers.authorization, 'pl');
    const agent = hash === null ? null : await findAgent(request, hash);
    if (agent === null) throw badToken();
    requireAccount(request, agent.accountId);
    return agent;
  };
  const identifyUser = async (request: FastifyRequest): Promise<SignedIn | null> => {
    const hash = tokenHashOf(sessionTokenOf(serviceAddress, request));
    return hash === null ? null : await findUser(request, hash);
  };

  app.decorateRequest('caller', null);
  app.decorateRequest('signedIn', null);
  app.decorateRequest('agent', null);
  app.decorate('identifyUser', identifyUser);
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
    // A key in the request takes precedence over cookies of the client. Another scheme is not
    // for this service: behind a proxy with Basic authentication, browsers send it with each request.
    const { authorization = '' } = request.headers;
    const isUser =
      !/^bearer\b/i.test(authorization) && sessionTokenOf(serviceAddress, request) !== null;
    if (isUser) {
      const user = await identifyUser(request);
      if (user === null) throw notSignedIn();
      request.signedIn = user;
      requireOwnPage(serviceAddress, request);
      request.caller = callerFor(user, request);
    } else {
      request.caller = await identifyCaller(request);
    }
    requireAccessTo(access, request);
  });
}

/** The account that a user works on: that of x-service-account, or the first that the user joined. */
function callerFor(user: SignedIn, request: FastifyRequest): Caller | null {
  const named = request.headers['x-service-account'];
  const { memberships, userId, sessionId } = user;
  const membership =
    named === undefined ? memberships[0] : memberships.find((each) => each.accountId === named);
  if (membership !== undefined) {
    return { ...membership, by: { kind: 'user', id: userId, sessionId } };
  }
  if (named !== undefined) {
    throw forbidden('You do not belong to the account in x-service-account');
  }
  return null;
}

function requireAccessTo(access: RouteAccess, request: FastifyRequest): void {
  const { caller, signedIn } = request;
  if (access.kind === 'user') {
    if (signedIn === null) throw forbidden('This is for users who are signed in, not for keys');
    return;
  }
  if (caller === null) {
    throw forbidden('You belong to no account; an admin of one can invite you');
  }
  if (access.kind !== 'role') throw forbidden('The route does not say who may use it');
  requireRole(request, access.role);
}

/**
 * For routes where a part of what they do needs a higher role than the route itself.
 *
 * @throws ServiceError 403
 */
export function requireRole(request: Pick<FastifyRequest, 'caller'>, needed: Role): void {
  const caller = callerOf(request);
  if (roleCovers(caller.role, needed)) return;
  const message =
    caller.by.kind === 'user'
      ? `This needs the role ${needed}; yours is ${caller.role}`
      : `This needs a key with the role ${needed}; this one has ${caller.role}`;
  throw forbidden(message, { role: caller.role, needed });
}

function requireAccount({ headers }: FastifyRequest, accountId: string): void {
  const account = headers['x-service-account'];
  if (account === undefined || account === accountId) return;
  throw forbidden('The key is not one of the account in x-service-account');
}

/**
 * Who makes the request, on which account.
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

/**
 * The user who makes the request.
 *
 * @throws ServiceError 500 on a route that is not only for users: a programming error
 */
export function userOf({ signedIn }: Pick<FastifyRequest, 'signedIn'>): SignedIn {
  if (signedIn === null) throw new ServiceError(500, 'The route asks for a user and is for others');
  return signedIn;
}

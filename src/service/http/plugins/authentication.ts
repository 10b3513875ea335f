import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import { type Authenticator, type Caller, covers, keyHashOf } from '../../auth/authenticator.ts';
import { KeyCache } from '../../auth/key-cache.ts';
import { badToken, forbidden, ServiceError, tooManyRequests, unavailable } from '../../errors.ts';
import { accessOf, requireAccess } from '../route-access.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whoever makes the request; null where the route is public. */
    caller: Caller | null;
  }
}

/** So late a revoked key may still work. */
const KEY_TTL_MS = 5_000;
const MAX_CACHED_KEYS = 10_000;
/** Keys that nobody has, tried from one address in a minute, before the store is asked no more. */
const MAX_WRONG_KEYS_PER_MINUTE = 100;
const STORE_RETRY_SECONDS = 5;

/**
 * Lets in by API key (spec part 5) whoever has the role that the route asks for. Every route says
 * which, or the start fails.
 */
export function addAuthentication(
  app: FastifyInstance,
  { authenticator, clock }: { readonly authenticator: Authenticator; readonly clock: Clock },
): void {
  const keys = new KeyCache({
    authenticator,
    clock,
    ttlMs: KEY_TTL_MS,
    maxEntries: MAX_CACHED_KEYS,
  });
  const countWrongKeys = app.createRateLimit({ max: MAX_WRONG_KEYS_PER_MINUTE });

  app.decorateRequest('caller', null);
  app.addHook('onRoute', requireAccess);
  app.addHook('onRequest', async (request) => {
    // What no route takes is answered the same for all: that gives nothing away.
    if (request.is404) return;
    const access = accessOf(request.routeOptions.config);
    if (access.kind === 'public') return;
    const caller = await identify(request);
    request.caller = caller;
    if (access.kind !== 'role' || !covers(caller.role, access.role)) {
      const needed = access.kind === 'role' ? access.role : 'admin';
      throw forbidden(`This needs a key with the role ${needed}; this one has ${caller.role}`, {
        role: caller.role,
        needed,
      });
    }
  });

  async function identify(request: FastifyRequest): Promise<Caller> {
    const keyHash = keyHashOf(request.headers.authorization);
    if (keyHash === null) throw badToken();
    const known = keys.peek(keyHash);
    const caller = known === undefined ? await lookUp(keyHash, request) : known;
    if (caller === null) throw badToken();
    const account = request.headers['x-service-account'];
    if (account !== undefined && account !== caller.accountId) {
      throw forbidden('The key is not one of the account in x-service-account');
    }
    return caller;
  }

  async function lookUp(keyHash: Buffer, request: FastifyRequest): Promise<Caller | null> {
    const wrong = await countWrongKeys(request, { increment: false });
    if (!wrong.isAllowed && wrong.remaining <= 0) {
      throw tooManyRequests(wrong.max, Math.max(1, wrong.ttlInSeconds));
    }
    let caller: Caller | null;
    try {
      caller = await keys.lookUp(keyHash);
    } catch (error) {
      throw unavailable('The key cannot be looked up now; try again', STORE_RETRY_SECONDS, error);
    }
    if (caller === null) await countWrongKeys(request);
    return caller;
  }
}

/**
 * Who makes the request.
 *
 * @throws ServiceError 500 on a public route: a fault of our own
 */
export function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (caller === null) throw new ServiceError(500, 'The route asks for a caller and is public');
  return caller;
}

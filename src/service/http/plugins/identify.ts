import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import { type KeyHolders, type KeyKind, keyHashOf } from '../../auth/authenticator.ts';
import { KeyCache } from '../../auth/key-cache.ts';
import { badToken, forbidden, tooManyRequests, unavailable } from '../../errors.ts';

/** So late a revoked key may still work. */
const KEY_TTL_MS = 5_000;
const MAX_CACHED_KEYS = 10_000;
const STORE_RETRY_SECONDS = 5;

/** Counts for the address of a request; says what it has left. */
export type CountWrongKeys = (
  request: FastifyRequest,
  options?: { increment: boolean },
) => Promise<
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly remaining: number;
      readonly max: number;
      readonly ttlInSeconds: number;
    }
>;

/**
 * Finds who makes a request, by its key of one kind.
 *
 * @returns a function that throws ServiceError: 401 where there is no such key, 403 where
 *   `x-service-account` names another account than the key's, 429 for an address that guesses, 503
 *   where the store cannot be asked
 */
export function createIdentify<Holder extends { readonly accountId: string }>(parts: {
  readonly kind: KeyKind;
  readonly holders: KeyHolders<Holder>;
  readonly clock: Clock;
  readonly countWrongKeys: CountWrongKeys;
}): (request: FastifyRequest) => Promise<Holder> {
  const { kind, holders, clock, countWrongKeys } = parts;
  const keys = new KeyCache({ holders, clock, ttlMs: KEY_TTL_MS, maxEntries: MAX_CACHED_KEYS });

  async function lookUp(keyHash: Buffer, request: FastifyRequest): Promise<Holder | null> {
    // Many share an address: one that guesses must not shut out those who had a key all along.
    if (!keys.wasKnown(keyHash)) {
      const wrong = await countWrongKeys(request, { increment: false });
      if (!wrong.isAllowed && wrong.remaining <= 0) {
        throw tooManyRequests(wrong.max, Math.max(1, wrong.ttlInSeconds));
      }
    }
    let holder: Holder | null;
    try {
      holder = await keys.lookUp(keyHash);
    } catch (error) {
      throw unavailable('The key cannot be looked up now; try again', STORE_RETRY_SECONDS, error);
    }
    if (holder === null) await countWrongKeys(request);
    return holder;
  }

  return async (request) => {
    const keyHash = keyHashOf(request.headers.authorization, kind);
    if (keyHash === null) throw badToken();
    const known = keys.peek(keyHash);
    const holder = known === undefined ? await lookUp(keyHash, request) : known;
    if (holder === null) throw badToken();
    const account = request.headers['x-service-account'];
    if (account !== undefined && account !== holder.accountId) {
      throw forbidden('The key is not one of the account in x-service-account');
    }
    return holder;
  };
}

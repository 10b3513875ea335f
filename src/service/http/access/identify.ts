import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import {
  badToken,
  forbidden,
  type ServiceError,
  tooManyWrongKeys,
  unavailable,
} from '../../errors.ts';
import { type KeyHolders, type KeyKind, keyHashOf } from './authenticator.ts';
import { KEY_TTL_MS, KeyCache, MAX_CACHED_KEYS } from './key-cache.ts';

const STORE_RETRY_SECONDS = 5;
/** Concurrent look-ups for all addresses that guess. Each holds a request in memory. */
const MAX_GUESSES_AT_ONCE = 1_000;

/** Counts by the address of a request, and returns what it has left. */
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
 * Identifies the caller of a request by its key of one kind.
 *
 * @returns a function that throws ServiceError: 401 where there is no such key, 403 where
 *   `x-service-account` names another account than the key's, 429 for a wrong key from an address
 *   that guesses, 503 where the store is unavailable
 */
export function createIdentify<Holder extends { readonly accountId: string }>(parts: {
  readonly kind: KeyKind;
  readonly holders: KeyHolders<Holder>;
  readonly clock: Clock;
  readonly countWrongKeys: CountWrongKeys;
}): (request: FastifyRequest) => Promise<Holder> {
  const { kind, holders, clock, countWrongKeys } = parts;
  const keys = new KeyCache({ holders, clock, ttlMs: KEY_TTL_MS, maxEntries: MAX_CACHED_KEYS });

  let guesses = 0;

  /**
   * Many clients share an address: one that guesses must not lock out the others' keys, even those
   * that this replica has not seen yet. Therefore every key is looked up in the store, in batches,
   * and only wrong keys are limited.
   */
  async function lookUp(keyHash: Buffer, request: FastifyRequest): Promise<Holder | null> {
    const refusal = keys.wasKnown(keyHash) ? null : await refusalOf(request);
    if (refusal === null) {
      const holder = await ask(keyHash);
      if (holder === null) await countWrongKeys(request);
      return holder;
    }
    if (guesses >= MAX_GUESSES_AT_ONCE) throw refusal;
    guesses += 1;
    const holder = await ask(keyHash).finally(() => {
      guesses -= 1;
    });
    if (holder === null) throw refusal;
    return holder;
  }

  /** The answer to a wrong key from this address; null while it is below the limit. */
  async function refusalOf(request: FastifyRequest): Promise<ServiceError | null> {
    const wrong = await countWrongKeys(request, { increment: false });
    if (wrong.isAllowed || wrong.remaining > 0) return null;
    return tooManyWrongKeys(wrong.max, Math.max(1, wrong.ttlInSeconds));
  }

  async function ask(keyHash: Buffer): Promise<Holder | null> {
    try {
      return await keys.lookUp(keyHash);
    } catch (error) {
      throw unavailable('The key cannot be looked up now; try again', STORE_RETRY_SECONDS, error);
    }
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

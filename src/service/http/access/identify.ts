import type { FastifyRequest } from 'fastify';
import { type ServiceError, tooManyWrongKeys, unavailable } from '../../errors.ts';
import type { KeyCache } from './key-cache.ts';
import type { CountWrongKeys } from './wrong-keys.ts';

const STORE_RETRY_SECONDS = 5;
/** Concurrent look-ups for all addresses that guess. Each holds a request in memory. */
const MAX_GUESSES_AT_ONCE = 1_000;

/**
 * Identifies the holder of a key or of a session by its hash.
 *
 * @returns a function that returns null if nobody has it, and throws ServiceError: 429 for a wrong
 *   one from an address that guesses, 503 where the store is unavailable
 */
export function createIdentify<Holder>(parts: {
  readonly keys: KeyCache<Holder>;
  readonly countWrongKeys: CountWrongKeys;
}): (request: FastifyRequest, keyHash: Buffer) => Promise<Holder | null> {
  const { keys, countWrongKeys } = parts;

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

  return async (request, keyHash) => {
    const known = keys.peek(keyHash);
    return known === undefined ? await lookUp(keyHash, request) : known;
  };
}

import { randomBytes } from 'node:crypto';
import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/store.ts';
import { hashOfKey } from '../http/access/key-hashes.ts';
import { type KeyTable, type StoredKey, touchKey } from './keys.sql.ts';

/** The stored parts of a key: enough to recognise it, too little to guess the rest (88 bits). */
export interface ShownParts {
  /** With `vk_` or `pl_`. */
  readonly prefix: string;
  readonly lastFour: string;
}

export interface NewKey {
  /** The whole key: shown once and never stored. */
  readonly key: string;
  readonly hash: Buffer;
  readonly shown: ShownParts;
}

const RANDOM_BYTES = 16;
const FIRST_DIGITS = 6;
const LAST_DIGITS = 4;

/**
 * A key of 128 random bits as 32 hex digits (src/service/README.md, "The API"): `vk_` for the API,
 * `pl_` for agents.
 */
export function newKey(kind: 'vk' | 'pl'): NewKey {
  const key = `${kind}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
  return { key, hash: hashOfKey(key), shown: shownPartsOf(key) };
}

/** The parts of a key that lists show. */
export function shownPartsOf(key: string): ShownParts {
  return {
    prefix: key.slice(0, key.indexOf('_') + 1 + FIRST_DIGITS),
    lastFour: key.slice(-LAST_DIGITS),
  };
}

/** A key's last use is stored at most this often. */
const TOUCH_EVERY_MS = 60_000;

/**
 * Finds keys by their hashes, and stores when they were used. Batches concurrent look-ups into one statement
 * at a time, however many clients guess keys.
 *
 * @param find in the order of the hashes; null for an unknown or a revoked key
 */
export function createKeyLookup<Key extends StoredKey>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  table: KeyTable,
  find: (sql: Store, hashes: readonly Uint8Array[]) => Promise<readonly (Key | null)[]>,
): (hash: Uint8Array) => Promise<Key | null> {
  const findByHash = batched((_all, hashes: readonly Uint8Array[]) => find(store, hashes));
  return async (hash) => {
    const found = await findByHash('', hash);
    if (found === null) return null;
    const usedAtMs = clock.wallMs();
    const storedMs = found.lastUsedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (usedAtMs - storedMs > TOUCH_EVERY_MS) {
      await touchKey(store, { table, id: found.id, usedAtMs, staleMs: TOUCH_EVERY_MS });
    }
    return found;
  };
}

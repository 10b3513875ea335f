import { randomBytes } from 'node:crypto';
import { hashOfKey } from '../http/access/authenticator.ts';

export interface NewKey {
  /** The whole key: shown once and never stored. */
  readonly key: string;
  readonly hash: Buffer;
  /** Enough of the key to recognise it, and too little to guess the rest. */
  readonly prefix: string;
}

const RANDOM_BYTES = 16;
const SHOWN_DIGITS = 6;

/**
 * A key of 128 random bits as 32 hex digits (src/service/README.md, "The API"): `vk_` for the API,
 * `pl_` for agents.
 */
export function newKey(kind: 'vk' | 'pl'): NewKey {
  const key = `${kind}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
  return { key, hash: hashOfKey(key), prefix: prefixOf(key) };
}

/** What is shown of a key in lists. */
export function prefixOf(key: string): string {
  return key.slice(0, key.indexOf('_') + 1 + SHOWN_DIGITS);
}

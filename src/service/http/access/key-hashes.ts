import { createHash } from 'node:crypto';

/** API keys and location keys (src/service/README.md, "The API"). */
const KEYS = { vk: /^vk_[0-9a-f]{32}$/, pl: /^pl_[0-9a-f]{32}$/ } as const;
export type KeyKind = keyof typeof KEYS;

/** The stored form of a key: SHA-256 suffices for 128 random bits, which cannot be guessed. */
export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * The hash of the token in a session's cookie, or null if it has none: 256 random bits in base64url.
 */
export function tokenHashOf(token: string | null): Buffer | null {
  return token !== null && /^[\w-]{43}$/.test(token) ? hashOfKey(token) : null;
}

/**
 * The hash of the key in an Authorization header (RFC 6750 2.1; the scheme in any case), or null
 * if it has no key of that kind.
 */
export function keyHashOf(authorization: string | undefined, kind: KeyKind): Buffer | null {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return KEYS[kind].test(key) ? hashOfKey(key) : null;
}

import { createHash } from 'node:crypto';

/** From the least to the most: each may also do all that those before it may. */
export const ROLES = ['read', 'run', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who makes a request, by the API key that came with it. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly role: Role;
}

/** Finds the holder of a key: a `Caller` of an API key, an agent of a location key. */
export interface KeyHolders<Holder> {
  /**
   * @param keyHash SHA-256 of the whole key, as it is stored. The search is by the hash, so its
   *   time tells nothing of the key, and a stolen table opens nothing.
   * @returns null where there is no such key or it is revoked
   * @throws where the store cannot be asked
   */
  authenticate(keyHash: Buffer): Promise<Holder | null>;
}

export type Authenticator = KeyHolders<Caller>;

/** Whether `role` may do what is for `needed`. */
export function covers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** API keys and location keys (src/service/README.md, "The API"). */
const KEYS = { vk: /^vk_[0-9a-f]{32}$/, pl: /^pl_[0-9a-f]{32}$/ } as const;
export type KeyKind = keyof typeof KEYS;

/** What is stored of a key: SHA-256 suffices for 128 random bits, which nobody can guess. */
export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * The hash of the key in an Authorization header (RFC 6750 2.1; the scheme in any case), or null
 * where there is none that could be one of ours of that kind.
 */
export function keyHashOf(authorization: string | undefined, kind: KeyKind): Buffer | null {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return KEYS[kind].test(key) ? hashOfKey(key) : null;
}

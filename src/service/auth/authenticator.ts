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

/** Finds the holder of an API key. */
export interface Authenticator {
  /**
   * @param keyHash SHA-256 of the whole key, as it is stored. The search is by the hash, so its
   *   time tells nothing of the key, and a stolen table opens nothing.
   * @returns null where there is no such key or it is revoked
   * @throws where the store cannot be asked
   */
  authenticate(keyHash: Buffer): Promise<Caller | null>;
}

/** Whether `role` may do what is for `needed`. */
export function covers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

const API_KEY = /^vk_[0-9a-f]{32}$/;

/** What is stored of a key: SHA-256 suffices for 128 random bits, which nobody can guess. */
export function hashOfKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * The hash of the API key in an Authorization header (RFC 6750 2.1; the scheme in any case), or
 * null where there is none that could be one of ours.
 */
export function keyHashOf(authorization: string | undefined): Buffer | null {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return API_KEY.test(key) ? hashOfKey(key) : null;
}

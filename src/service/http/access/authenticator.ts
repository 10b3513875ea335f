import { createHash } from 'node:crypto';
import { ROLES, type Role } from '../../../model/enums.ts';

/** Who makes a request: an API key, or a user who is signed in. */
export type Principal =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string; readonly sessionId: string };

/** The account that a request works on, and the role in it of the one who makes it. */
export interface Caller {
  readonly accountId: string;
  readonly role: Role;
  readonly by: Principal;
}

/** A user's role in an account. */
export interface Membership {
  readonly accountId: string;
  readonly role: Role;
}

/** A session, and the user whose it is. */
export interface SignedIn {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  /** The one that the user joined first comes first. */
  readonly memberships: readonly Membership[];
}

/** Looks up the holder of a key: a `Caller` for an API key, an agent for a location key, a
 * user for the token of a session. */
export interface KeyHolders<Holder> {
  /**
   * @param keyHash SHA-256 of the whole key, as stored. The search is by hash, so its time reveals
   *   nothing about the key, and a stolen table contains no usable key.
   * @returns null if there is no such key or it is revoked
   * @throws where the store is unavailable
   */
  authenticate(keyHash: Buffer): Promise<Holder | null>;
}

export type Authenticator = KeyHolders<Caller>;

/** Whether `role` includes `needed`. */
export function covers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

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

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

/** A session and its user. */
export interface SignedIn {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  /** In the order in which the user joined the accounts. */
  readonly memberships: readonly Membership[];
}

/**
 * Looks up the holder of a key: a `Caller` for an API key, an agent for a location key, a user for the
 * token of a session.
 */
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
export function roleCovers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

import { MINUTE_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import { findActiveApiKeyByHash } from '../api-keys/shared.sql.ts';
import { insertEntry } from '../audit-log/shared.sql.ts';
import type { Store, Transaction } from '../database/store.ts';
import { hashOfKey } from '../http/access/key-hashes.ts';
import type { Client, NewSession } from '../sessions/begin-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { linkGone } from './invitations.ts';
import { hashOfLinkToken, newLinkToken } from './link-token.ts';
import { findSoleMembers, insertMembership, insertUser } from './sql.ts';

export const SIGN_IN_LINK_MINUTES = 10;
/** Not the email of a person: it cannot be invited or used to sign in with a password. */
const LOCAL_EMAIL = 'admin@localhost';

export interface SignInLinkParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sessions: Pick<Sessions, 'start' | 'forget'>;
}

/**
 * The link with which the user who started `vedette up` signs in without a password: README.md of this folder. Only
 * this process knows it, by its hash.
 */
export interface SignInLink {
  /**
   * Creates a link, which replaces an earlier one.
   *
   * @param apiKey an admin key, which the person who gets the link has anyway
   * @returns its token; null if the key is not an admin's
   */
  create(apiKey: string): Promise<string | null>;
  /** Whether the link was not used and has not expired. */
  isOpen(token: string): boolean;
  /**
   * Signs in the only user of the account if that user is an admin and belongs to no other account; otherwise signs in
   * a local user, which is created if necessary.
   *
   * @throws ServiceError 404 where the link is not valid
   */
  accept(token: string, client: Client): Promise<NewSession>;
}

interface Link {
  readonly tokenHash: Buffer;
  /** The SHA-256 of the API key of `up`. Revoking the key invalidates the link. */
  readonly keyHash: Buffer;
  readonly endsAtMs: number;
}

export function createSignInLink({ store, clock, ids, sessions }: SignInLinkParts): SignInLink {
  let open: Link | null = null;

  /** The account of the key; null if the key is revoked, which invalidates the link. */
  const accountOf = async (keyHash: Buffer): Promise<string | null> => {
    const key = await findActiveApiKeyByHash(store, keyHash);
    return key?.role === 'admin' ? key.accountId : null;
  };
  const find = (token: string): Link | null => {
    if (open === null || clock.monotonicMs() >= open.endsAtMs) return null;
    return open.tokenHash.equals(hashOfLinkToken(token)) ? open : null;
  };

  const makeLocalUser = async (
    tx: Transaction,
    accountId: string,
    address: string,
  ): Promise<string> => {
    const [id, createdAtMs] = [ids(), clock.wallMs()];
    const user = { id, passwordHash: null, createdAtMs };
    // Emails are unique, and another account of the database may have a local user.
    let email = LOCAL_EMAIL;
    if (!(await insertUser(tx, { ...user, email }))) {
      email = `admin-${id}@localhost`;
      await insertUser(tx, { ...user, email });
    }
    await insertMembership(tx, { accountId, userId: id, role: 'admin', createdAtMs });
    await insertEntry(tx, {
      accountId,
      atMs: createdAtMs,
      actor: { kind: 'operator', id: null, address },
      action: 'setup',
      kind: 'user',
      resourceId: id,
      resourceName: email,
      changes: [{ field: 'role', after: 'admin' }],
      dropped: 0,
    });
    return id;
  };

  const userFor = (accountId: string, address: string): Promise<string> =>
    store.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const members = await findSoleMembers(tx, accountId);
      const local = members.find(({ email }) => email.endsWith('@localhost'));
      if (local !== undefined) return local.id;
      const [only, ...others] = members;
      const isAlone = only?.isOnlyMember === true && others.length === 0;
      return isAlone && only.role === 'admin' ? only.id : makeLocalUser(tx, accountId, address);
    });

  return {
    async create(apiKey) {
      const keyHash = hashOfKey(apiKey);
      if ((await accountOf(keyHash)) === null) return null;
      const { token, tokenHash } = newLinkToken();
      const endsAtMs = clock.monotonicMs() + SIGN_IN_LINK_MINUTES * MINUTE_MS;
      open = { tokenHash, keyHash, endsAtMs };
      return token;
    },

    isOpen: (token) => find(token) !== null,

    async accept(token, client) {
      const link = find(token);
      if (link === null) throw linkGone();
      // Cleared before the first await, so that the second of two concurrent uses finds no link.
      open = null;
      try {
        const accountId = await accountOf(link.keyHash);
        if (accountId === null) throw linkGone();
        const userId = await userFor(accountId, client.address);
        const started = await sessions.start(userId, client, { kind: 'sign-in-link' });
        sessions.forget(userId);
        return started;
      } catch (error) {
        // The sign-in failed, so the link can be used again.
        open ??= link;
        throw error;
      }
    },
  };
}

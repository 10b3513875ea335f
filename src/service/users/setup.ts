import { HOUR_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  countAccounts,
  findFirstAccount,
  insertAccount,
  lockFirstAccount,
} from '../accounts/shared.sql.ts';
import { hasOtherAdminKey } from '../api-keys/shared.sql.ts';
import { insertEntry } from '../audit-log/shared.sql.ts';
import type { Sql, Store } from '../database/store.ts';
import type { Client } from '../sessions/begin-session.ts';
import { emailOf } from './email.ts';
import { linkGone } from './invitations.ts';
import { hashOfLinkToken, newLinkToken } from './link-token.ts';
import { deleteSetupLinks, insertSetupLink, isSetupLink } from './links.sql.ts';
import type { Passwords } from './password-hashing.ts';
import { hasUser, insertMembership, insertUser } from './sql.ts';

const ACCOUNT_NAME = 'Main';
export const SETUP_LINK_HOURS = 24;

export type LinkReader = 'log' | 'owner';

export interface SetupParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly passwords: Passwords;
}

/** Creates the first user of a service with a link in its log or on its owner's terminal: README.md of this folder. */
export interface Setup {
  /**
   * Creates a link that works once. Each replica has its own; all become invalid when one is used.
   *
   * @param reader who sees the link. People other than admins may read a log, so it gets no link if the account is
   *   older than a day and has an admin key, with which users can be invited. The terminal of `vedette up` belongs to
   *   the owner of that key.
   * @returns its token; null if there is a user, or more than one account
   */
  newLink(reader?: LinkReader): Promise<string | null>;
  /** Whether nobody can sign in yet. */
  isWithoutUsers(): Promise<boolean>;
  /** Whether the link is valid. */
  isOpen(token: string): Promise<boolean>;
  /**
   * Creates the first user, an admin of the first account.
   *
   * @returns the id of the user
   * @throws ServiceError 404 where the link is not valid
   */
  accept(
    given: { token: string; email: string; password: string },
    client: Pick<Client, 'address'>,
  ): Promise<string>;
}

export function createSetup({ store, clock, ids, passwords }: SetupParts): Setup {
  /** Hashes, in hex, of the links that this process created for the owner, one for each start. */
  const ofOwner = new Set<string>();
  /** Whether to offer a link: a log must not give admin access to an account that already has an administrator. */
  const isWanted = async (sql: Sql, reader: LinkReader): Promise<boolean> => {
    if ((await hasUser(sql)) || (await countAccounts(sql, 2)) > 1) return false;
    if (reader === 'owner') return true;
    const account = await findFirstAccount(sql);
    if (account === null) return true;
    // The start that creates the account also creates its first key.
    if (account.createdAt.getTime() > clock.wallMs() - SETUP_LINK_HOURS * HOUR_MS) return true;
    return !(await hasOtherAdminKey(sql, { accountId: account.id, id: null }));
  };
  const isValid = async (sql: Sql, token: string): Promise<boolean> => {
    const tokenHash = hashOfLinkToken(token);
    const reader = ofOwner.has(tokenHash.toString('hex')) ? 'owner' : 'log';
    const link = { tokenHash, nowMs: clock.wallMs() };
    return (await isSetupLink(sql, link)) && (await isWanted(sql, reader));
  };
  const isOpen = (token: string): Promise<boolean> => isValid(store, token);
  return {
    isOpen,

    isWithoutUsers: async () => !(await hasUser(store)),

    async newLink(reader = 'log') {
      if (!(await isWanted(store, reader))) return null;
      const { token, tokenHash } = newLinkToken();
      if (reader === 'owner') ofOwner.add(tokenHash.toString('hex'));
      const createdAtMs = clock.wallMs();
      const expiresAtMs = createdAtMs + SETUP_LINK_HOURS * HOUR_MS;
      await insertSetupLink(store, { id: ids(), tokenHash, createdAtMs, expiresAtMs });
      return token;
    },

    async accept({ token, email, password }, { address }) {
      // Hashing is slow, so it is done only for a valid link.
      if (!(await isOpen(token))) throw linkGone();
      const passwordHash = await passwords.hash(password);
      const [accountId, userId] = [ids(), ids()];
      await store.transaction(async (tx) => {
        await lockFirstAccount(tx);
        const nowMs = clock.wallMs();
        if (!(await isValid(tx, token))) throw linkGone();
        const first = await findFirstAccount(tx);
        if (first === null) {
          await insertAccount(tx, { id: accountId, name: ACCOUNT_NAME, createdAtMs: nowMs });
        }
        const user = { id: userId, email: emailOf(email), passwordHash, createdAtMs: nowMs };
        await insertUser(tx, user);
        const role = 'admin';
        const account = first?.id ?? accountId;
        await insertMembership(tx, { accountId: account, userId, role, createdAtMs: nowMs });
        await deleteSetupLinks(tx);
        await insertEntry(tx, {
          accountId: account,
          atMs: nowMs,
          actor: { kind: 'setup', id: null, address },
          action: 'setup',
          kind: 'user',
          resourceId: userId,
          resourceName: user.email,
          changes: [{ field: 'role', after: role }],
          dropped: 0,
        });
      });
      return userId;
    },
  };
}

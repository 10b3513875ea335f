import { newPassword } from '../../model/account/password.ts';
import type { Role } from '../../model/enums.ts';
import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import { insertEntry } from '../audit-log/shared.sql.ts';
import { everyHour } from '../database/every-hour.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store, Transaction } from '../database/store.ts';
import { conflict, invalid, notFound, ServiceError } from '../errors.ts';
import type { SignedIn } from '../http/access/caller.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { validate } from '../http/resources/problems.ts';
import type { Client, SignInProof } from '../sessions/begin-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SignIn } from '../sessions/sign-in.ts';
import { emailOf } from './email.ts';
import { hashOfLinkToken, newLinkToken } from './link-token.ts';
import {
  countInvitations,
  deleteExpiredLinks,
  deleteInvitation,
  type Invitation,
  insertInvitation,
  listInvitations,
  lockInvitation,
} from './links.sql.ts';
import type { Passwords } from './password-hashing.ts';
import { countMembers, findMember, findUserByEmail, insertMembership, insertUser } from './sql.ts';

export type { Invitation } from './links.sql.ts';

const VALID_MS = 7 * DAY_MS;
/** The users of an account, open invitations included. */
const MAX_USERS = 1_000;
const ROWS_AT_ONCE = 1_000;

export interface InvitationsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly passwords: Passwords;
  readonly sessions: Pick<Sessions, 'forget'>;
  readonly signIn: Pick<SignIn, 'isPassword'>;
}

/** The facts on the page of an invitation. */
export interface ShownInvitation {
  readonly email: string;
  readonly role: Role;
  /** Whether a user has this email; the user then signs in with the existing password. */
  readonly isKnown: boolean;
}

export interface Acceptance {
  readonly token: string;
  /** Null if the user is signed in. */
  readonly password: string | null;
  readonly signedIn: SignedIn | null;
}

/** A user who accepted an invitation. */
export interface Joined {
  readonly userId: string;
  readonly by: SignInProof;
}

/** Invitations to an account, by links that work once: README.md of this folder. */
export interface Invitations {
  /** Replaces an earlier one of the same email. @throws ServiceError 409 for a member, or too many */
  create(
    accountId: string,
    fields: { email: string; role: Role },
  ): Promise<{ readonly invitation: Invitation; readonly token: string }>;
  /** The open invitations, oldest first. */
  list(accountId: string, page: Page): Promise<readonly Invitation[]>;
  /** @throws ServiceError 404 */
  remove(accountId: string, id: string): Promise<void>;
  /** @throws ServiceError 404 where the link is not valid */
  show(token: string): Promise<ShownInvitation>;
  /**
   * @throws ServiceError 404 where the link is not valid, 401 for a wrong password of a known user
   */
  accept(acceptance: Acceptance, client: Client): Promise<Joined>;
  /** Deletes expired links until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createInvitations(parts: InvitationsParts): Invitations {
  const { store, clock, log, ids, passwords, sessions, signIn } = parts;

  const find = async (tx: Transaction, token: string): Promise<Invitation> => {
    const tokenHash = hashOfLinkToken(token);
    const found = await lockInvitation(tx, { tokenHash, nowMs: clock.wallMs() });
    if (found === null) throw linkGone();
    return found;
  };
  const join = async (
    tx: Transaction,
    userId: string,
    invitation: Invitation,
    { address }: Client,
  ): Promise<void> => {
    const { accountId, id, role, email } = invitation;
    await insertMembership(tx, { accountId, userId, role, createdAtMs: clock.wallMs() });
    await deleteInvitation(tx, { accountId, id });
    await insertEntry(tx, {
      accountId,
      atMs: clock.wallMs(),
      actor: { kind: 'user', id: userId, address },
      action: 'join',
      kind: 'user',
      resourceId: userId,
      resourceName: email,
      changes: [{ field: 'role', after: role }],
      dropped: 0,
    });
  };

  return {
    async create(accountId, { email: given, role }) {
      const email = emailOf(given);
      const { token, tokenHash } = newLinkToken();
      const nowMs = clock.wallMs();
      const invitation: Invitation = {
        id: ids(),
        accountId,
        email,
        role,
        createdAt: new Date(nowMs),
        expiresAt: new Date(nowMs + VALID_MS),
      };
      return await store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const user = await findUserByEmail(tx, email);
        if (user !== null && (await findMember(tx, { accountId, userId: user.id })) !== null) {
          throw conflict('A user of the account has this email already');
        }
        const users = await countMembers(tx, accountId);
        if (users + (await countInvitations(tx, accountId)) >= MAX_USERS) {
          throw conflict(
            `An account has at most ${MAX_USERS} users and open invitations: remove some first`,
            { limit: MAX_USERS },
          );
        }
        await insertInvitation(tx, { ...invitation, tokenHash });
        return { invitation, token };
      });
    },

    list: (accountId, page) =>
      listInvitations(store, { accountId, ...rangeOf(page), nowMs: clock.wallMs() }),

    async remove(accountId, id) {
      if (!(await deleteInvitation(store, { accountId, id }))) throw notFound('invitation');
    },

    show: (token) =>
      store.transaction(async (tx) => {
        const { email, role } = await find(tx, token);
        return { email, role, isKnown: (await findUserByEmail(tx, email)) !== null };
      }),

    async accept({ token, password, signedIn }, client) {
      const { email } = await store.transaction((tx) => find(tx, token));
      if (signedIn?.email === email) {
        await store.transaction(async (tx) =>
          join(tx, signedIn.userId, await find(tx, token), client),
        );
        sessions.forget(signedIn.userId);
        return { userId: signedIn.userId, by: { kind: 'session', id: signedIn.sessionId } };
      }
      if ((await findUserByEmail(store, email)) !== null) {
        // The person with the link may not be the user.
        const user = await signIn.isPassword(email, password ?? '', client);
        if (user === null) throw wrongPassword();
        await store.transaction(async (tx) => join(tx, user.id, await find(tx, token), client));
        sessions.forget(user.id);
        return { userId: user.id, by: { kind: 'password', checkedHash: user.passwordHash } };
      }
      const checked = validate(newPassword, password, 'body');
      if (!checked.ok) {
        throw invalid(checked.problems.map((problem) => ({ ...problem, path: 'body.password' })));
      }
      const passwordHash = await passwords.hash(checked.value);
      const id = ids();
      await store.transaction(async (tx) => {
        const invitation = await find(tx, token);
        const user = { id, email, passwordHash, createdAtMs: clock.wallMs() };
        if (!(await insertUser(tx, user))) {
          throw conflict('A user with this email was just created: open the link again');
        }
        await join(tx, id, invitation, client);
      });
      return { userId: id, by: { kind: 'password', checkedHash: passwordHash } };
    },

    maintain: (signal) =>
      everyHour(
        { clock, log },
        'expired links were not deleted',
        () => {
          const beforeMs = clock.wallMs();
          const remove = (limit: number) => deleteExpiredLinks(store, { beforeMs, limit });
          return removeInBatches(ROWS_AT_ONCE, remove, signal);
        },
        signal,
      ),
  };
}

/** 404 for a link that was used, has expired or never existed. */
export function linkGone(): ServiceError {
  return new ServiceError(404, 'This link was used already, or it has expired: ask for another');
}

function wrongPassword(): ServiceError {
  return new ServiceError(
    401,
    'A user with this email exists already, and the password is not theirs: use the password with which you sign in',
  );
}

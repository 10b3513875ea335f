import type { Role } from '../../model/enums.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findAccount, findFirstAccount, lockAccount } from '../accounts/shared.sql.ts';
import { changesBetween } from '../audit-log/changes.ts';
import { insertEntry } from '../audit-log/shared.sql.ts';
import type { Store, Transaction } from '../database/store.ts';
import { forbidden, ServiceError } from '../errors.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import type { Client } from '../sessions/begin-session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { emailOf, emailSchema } from '../users/email.ts';
import { isLastAdmin, withdrawInvitations } from '../users/membership-guards.ts';
import {
  deleteInvitationsOf,
  deleteMembership,
  deletePasswordLinks,
  findMember,
  findUser,
  findUserByEmail,
  insertUser,
  putMembership,
  removePassword,
} from '../users/shared.sql.ts';
import { roleOfGroups } from './group-roles.ts';
import type { OidcConfig } from './oidc-config.ts';
import type { ProviderUser } from './provider.ts';
import { deleteIdentities, findUserIdByIdentity, insertIdentity } from './sql.ts';

/** The users of a provider, and their roles. */
export interface Identities {
  /**
   * Finds or creates the user, and sets the user's role in the account according to the groups.
   *
   * @returns the id of the user
   * @throws ServiceError 403 if no group has a role, the email cannot be used, or the account would lose its
   *   last admin
   */
  admit(user: ProviderUser, client: Pick<Client, 'address'>): Promise<string>;
}

export function createIdentities(parts: {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sessions: Pick<Sessions, 'endAllIn' | 'forget'>;
  readonly config: Pick<OidcConfig, 'accountId' | 'groupRoles'>;
}): Identities {
  const { store, clock, ids, sessions, config } = parts;

  const accountIn = async (tx: Transaction): Promise<string> => {
    const { accountId } = config;
    const found =
      accountId === null ? await findFirstAccount(tx) : await findAccount(tx, accountId);
    if (found !== null) return found.id;
    throw new ServiceError(
      503,
      accountId === null
        ? 'The service has no account yet: use the setup link in its log first'
        : 'The account of OIDC_ACCOUNT does not exist: set it to the id of one',
    );
  };
  /** Finds or creates the user of a new identity. */
  const newIdentity = async (tx: Transaction, user: ProviderUser): Promise<string> => {
    const email = usableEmail(user);
    const { issuer, subject } = user;
    const known = await findUserByEmail(tx, email);
    const userId = known?.id ?? ids();
    const createdAtMs = clock.wallMs();
    // A person with a link could choose a password for this user. Links are locked before users everywhere.
    if (known === null || user.isEmailVerified === true) await deletePasswordLinks(tx, email);
    if (known === null) {
      await insertUser(tx, { id: userId, email, passwordHash: null, createdAtMs });
    } else if (user.isEmailVerified === true) {
      // The person who invited this email may have chosen the password. Only the provider proves who owns the email.
      await removePassword(tx, userId);
      // An earlier holder of the email must not sign in as this user.
      await deleteIdentities(tx, { issuer, userId });
      await sessions.endAllIn(tx, userId);
    } else {
      throw forbidden(
        'A user with your email exists already, and the identity provider does not say that the email is verified',
      );
    }
    await insertIdentity(tx, { issuer, subject, userId, createdAtMs });
    return userId;
  };

  const requireAnotherAdmin = async (tx: Transaction, accountId: string, userId: string) => {
    if (!(await isLastAdmin(tx, { accountId, userId }))) return;
    throw forbidden(
      'You are the last admin of the account, and your groups do not make you one: make another admin first',
    );
  };

  /** Call it before the change. */
  const record = async (
    tx: Transaction,
    given: { accountId: string; userId: string; address: string; role: Role | null },
  ) => {
    const { accountId, userId, address, role } = given;
    const before = (await findMember(tx, { accountId, userId }))?.role ?? null;
    if (before === role) return;
    await insertEntry(tx, {
      accountId,
      atMs: clock.wallMs(),
      actor: { kind: 'user', id: userId, address },
      action: before === null ? 'join' : role === null ? 'delete' : 'update',
      kind: 'user',
      resourceId: userId,
      resourceName: (await findUser(tx, userId))?.email ?? null,
      ...changesBetween({ role: before }, { role }),
    });
  };

  return {
    async admit(user, { address }) {
      const role = roleOfGroups(user.groups, config.groupRoles);
      const userId = await store.transaction(async (tx) => {
        const accountId = await accountIn(tx);
        // Two concurrent first sign-ins of a user must create only one user.
        await lockAccount(tx, accountId);
        const known = await findUserIdByIdentity(tx, user);
        if (role === null) {
          if (known !== null) {
            await record(tx, { accountId, userId: known, address, role });
            await requireAnotherAdmin(tx, accountId, known);
            await withdrawInvitations(tx, { accountId, userId: known, role });
            await deleteMembership(tx, { accountId, userId: known });
          }
          return known;
        }
        const id = known ?? (await newIdentity(tx, user));
        if (role !== 'admin') await requireAnotherAdmin(tx, accountId, id);
        await withdrawInvitations(tx, { accountId, userId: id, role });
        await record(tx, { accountId, userId: id, address, role });
        await putMembership(tx, { accountId, userId: id, role, createdAtMs: clock.wallMs() });
        // An open invitation could give another role later.
        const member = await findMember(tx, { accountId, userId: id });
        if (member !== null) await deleteInvitationsOf(tx, { accountId, email: member.email });
        return id;
      });
      if (userId !== null) sessions.forget(userId);
      if (role === null || userId === null) {
        throw forbidden(
          'None of your groups at the identity provider has a role here: ask an admin',
        );
      }
      return userId;
    },
  };
}

function usableEmail({ email, isEmailVerified }: ProviderUser): string {
  if (
    email === null ||
    !emailSchema.safeParse(email).success ||
    unstorableTexts(email).length > 0
  ) {
    throw forbidden(
      'The identity provider did not send a valid email: it may need another scope (OIDC_SCOPES)',
    );
  }
  if (isEmailVerified === false) {
    throw forbidden('Your email is not verified: verify it at the identity provider first');
  }
  return emailOf(email);
}

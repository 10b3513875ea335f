import type { Role } from '../../model/enums.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store, Transaction } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { isLastAdmin, withdrawInvitations } from './membership-guards.ts';
import {
  deleteMembership,
  findMember,
  listAccountsOfUser,
  listMembers,
  type Member,
  updateRole,
} from './sql.ts';

export type { Member } from './sql.ts';

export interface UsersParts {
  readonly store: Store;
  readonly sessions: Pick<Sessions, 'forget'>;
}

/** The users of accounts: README.md of this folder. */
export interface Users {
  /** Lists the users in the order in which they joined. */
  list(accountId: string, page: Page): Promise<readonly Member[]>;
  /** @throws ServiceError 404 */
  read(accountId: string, id: string): Promise<Member>;
  /** @throws ServiceError 404; 409 where the account would be without an admin; 412 */
  changeRole(key: AccountKey, role: Role, precondition?: Precondition<Member>): Promise<Member>;
  /** Removes the user from the account. @throws as `changeRole` */
  remove(key: AccountKey, precondition?: Precondition<Member>): Promise<void>;
  accountsOf(userId: string): ReturnType<typeof listAccountsOfUser>;
}

export function createUsers({ store, sessions }: UsersParts): Users {
  const read = async (accountId: string, userId: string, sql: Transaction | Store = store) => {
    const found = await findMember(sql, { accountId, userId });
    if (found === null) throw notFound('user');
    return found;
  };
  const requireAnotherAdmin = async (tx: Transaction, accountId: string, userId: string) => {
    if (!(await isLastAdmin(tx, { accountId, userId }))) return;
    throw conflict('This is the last admin of the account: make another user an admin first');
  };
  return {
    list: (accountId, page) => listMembers(store, { accountId, ...rangeOf(page) }),

    read: (accountId, id) => read(accountId, id),

    async changeRole({ accountId, id }, role, precondition) {
      const changed = await store.transaction(async (tx) => {
        // Without the lock, two admins could demote each other at the same time.
        await lockAccount(tx, accountId);
        const member = await read(accountId, id, tx);
        precondition?.(member);
        if (role !== 'admin') await requireAnotherAdmin(tx, accountId, id);
        await withdrawInvitations(tx, { accountId, userId: id, role });
        await updateRole(tx, { accountId, userId: id, role });
        return { ...member, role };
      });
      sessions.forget(id);
      return changed;
    },

    async remove({ accountId, id }, precondition) {
      await store.transaction(async (tx) => {
        await lockAccount(tx, accountId);
        const member = await read(accountId, id, tx);
        precondition?.(member);
        await requireAnotherAdmin(tx, accountId, id);
        await withdrawInvitations(tx, { accountId, userId: id, role: null });
        await deleteMembership(tx, { accountId, userId: id });
      });
      sessions.forget(id);
    },

    accountsOf: (userId) => listAccountsOfUser(store, userId),
  };
}

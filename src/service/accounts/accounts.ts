import type { Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import { findAccount, type StoredAccount } from './sql.ts';

export interface Accounts {
  /** @throws ServiceError 404 if the account was just removed */
  read(accountId: string): Promise<StoredAccount>;
}

export function createAccounts({ store }: { readonly store: Store }): Accounts {
  return {
    async read(accountId) {
      const found = await findAccount(store, accountId);
      if (found === null) throw notFound('account');
      return found;
    },
  };
}

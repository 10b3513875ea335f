import { findCheck } from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { findStatus, type StoredStatus } from './sql.ts';

export type { StoredStatus } from './sql.ts';

/** The current status of checks: src/service/README.md, "The API". */
export interface CheckStatuses {
  /**
   * null until a run has ended. The name is the check's current one.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  get(key: AccountKey): Promise<StoredStatus | null>;
}

export function createCheckStatuses({ store }: { readonly store: Store }): CheckStatuses {
  return {
    async get(key) {
      const found = await findCheck(store, key);
      if (found === null) throw notFound('check');
      const status = await findStatus(store, key);
      return status === null ? null : { ...status, name: found.check.name };
    },
  };
}

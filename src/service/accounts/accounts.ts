import { accountSchema } from '../../model/account/account.ts';
import type { PlanLimit } from '../../model/account/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { givenFields } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import {
  countsOfPlan,
  findAccount,
  lockAccount,
  type StoredAccount,
  updateAccount,
} from './sql.ts';

export type { StoredAccount } from './sql.ts';

export interface Accounts {
  /** @throws ServiceError 404 if the account was just removed */
  read(accountId: string): Promise<StoredAccount>;
  /** Omitted fields do not change. */
  update(
    accountId: string,
    input: Readonly<Record<string, unknown>>,
    precondition?: Precondition<StoredAccount>,
  ): Promise<StoredAccount>;
  /** How many of each resource that plans limit the account has. */
  counts(accountId: string): Promise<Readonly<Record<PlanLimit, number>>>;
}

/** Read-only fields: ignored if an update sends them back. */
const RESPONSE_ONLY = ['created_at', 'updated_at'];

export function createAccounts({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): Accounts {
  return {
    async read(accountId) {
      const found = await findAccount(store, accountId);
      if (found === null) throw notFound('account');
      return found;
    },

    update(id, input, precondition) {
      return store.transaction(async (tx) => {
        await lockAccount(tx, id);
        const before = await findAccount(tx, id);
        if (before === null) throw notFound('account');
        precondition?.(before);
        const { name, timeZone } = before;
        const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
        const fields = validBody(accountSchema, { name, timeZone, ...given });
        const updatedAtMs = clock.wallMs();
        await updateAccount(tx, { id, ...fields, updatedAtMs });
        return { ...before, ...fields, updatedAt: new Date(updatedAtMs) };
      });
    },

    counts: (accountId) => countsOfPlan(store, accountId),
  };
}

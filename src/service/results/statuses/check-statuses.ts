import { CHECK_STATES, type CheckState } from '../../../model/result/check-state.ts';
import type { CheckFilter } from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { unstorableTexts } from '../../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { type CheckWithStatus, countStates, findStatus, listStatuses } from './list.sql.ts';
import { refreshStates } from './outdated-states.ts';
import type { StatusOrder } from './status-order.ts';

export type { CheckWithStatus } from './list.sql.ts';

export type StatusFilter = Omit<CheckFilter, 'accountId'>;
export type StateCounts = Readonly<Record<CheckState, number>>;

/** The current status of checks: README.md. */
export interface CheckStatuses {
  /**
   * null until a run has ended.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  get(key: AccountKey): Promise<CheckWithStatus | null>;
  /** All checks that match, also those that never ran. */
  list(
    accountId: string,
    query: Page & StatusFilter & { readonly order: StatusOrder },
  ): Promise<readonly CheckWithStatus[]>;
  /** How many of the checks that match are in each state. */
  count(accountId: string, filter: StatusFilter): Promise<StateCounts>;
}

export function createCheckStatuses({ store }: { readonly store: Store }): CheckStatuses {
  /** No name, tag or location contains such a text, and PostgreSQL would refuse it. */
  const matchesNothing = ({ tags, search, location }: StatusFilter): boolean =>
    unstorableTexts([...tags, search, location]).length > 0;

  return {
    async get(key) {
      await refreshStates(store, { accountId: key.accountId, checkId: key.id });
      const found = await findStatus(store, key);
      if (found === null) throw notFound('check');
      return found.hasStatus ? found : null;
    },

    async list(accountId, { limit, page, ...query }) {
      if (matchesNothing(query)) return [];
      await refreshStates(store, { accountId, checkId: null });
      return listStatuses(store, { accountId, ...query, ...rangeOf({ limit, page }) });
    },

    async count(accountId, filter) {
      let counts: ReadonlyMap<CheckState, number> = new Map();
      if (!matchesNothing(filter)) {
        await refreshStates(store, { accountId, checkId: null });
        counts = await countStates(store, { accountId, ...filter });
      }
      const entries = CHECK_STATES.map((state) => [state, counts.get(state) ?? 0]);
      return Object.fromEntries(entries) as StateCounts;
    },
  };
}

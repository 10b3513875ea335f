import type { Clock } from '../../runtime/clock.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { invalid, notFound } from '../errors.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { queryWindow, type RequestedWindow } from '../http/resources/window-parameters.ts';
import { findShownResult, listResults } from './sql.ts';

export interface ResultQuery extends Page, RequestedWindow {
  /** The slug of a private location, or a public location. */
  readonly location: string | null;
  readonly checkType: string | null;
  readonly hasFailures: boolean | null;
  readonly resultType: 'FINAL' | 'ATTEMPT' | 'ALL';
}

/**
 * The results of the account's checks (src/model/README.md, "Results"), as JSON texts: they are sent as
 * they are stored, without being parsed.
 */
export interface CheckResults {
  /**
   * Newest first.
   *
   * @throws ServiceError 404 for a check that does not exist, 400 if the page is too large (a single result
   *   never is)
   */
  list(accountId: string, checkId: string, query: ResultQuery): Promise<readonly string[]>;
  /** @throws ServiceError 404 where the check or the result does not exist */
  get(accountId: string, checkId: string, id: string): Promise<string>;
}

const ALL_TYPES = ['FINAL', 'ATTEMPT'] as const;
/** A hundred results with the largest bodies that agents send take half of this. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export function createCheckResults({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): CheckResults {
  async function mustExist(key: AccountKey): Promise<void> {
    if ((await findCheck(store, key)) === null) throw notFound('check');
  }

  return {
    async list(accountId, checkId, query) {
      await mustExist({ accountId, id: checkId });
      const { location, checkType, hasFailures, resultType } = query;
      // No location has such a name, and PostgreSQL would refuse the text.
      if (unstorableTexts(location).length > 0) return [];
      const asked = {
        accountId,
        checkId,
        location,
        checkType,
        hasFailures,
        ...queryWindow(query, clock.wallMs()),
        resultTypes: ALL_TYPES.filter((type) => resultType === 'ALL' || type === resultType),
        ...rangeOf(query),
      };
      const found = await listResults(store, asked, MAX_PAGE_BYTES);
      if (found !== null) return found;
      const message = `must be smaller: these results have more than ${MAX_PAGE_BYTES} bytes`;
      throw invalid([{ path: 'query.limit', message }]);
    },

    async get(accountId, checkId, id) {
      await mustExist({ accountId, id: checkId });
      const found = await findShownResult(store, { accountId, checkId, id });
      if (found === null) throw notFound('check result');
      return found;
    },
  };
}

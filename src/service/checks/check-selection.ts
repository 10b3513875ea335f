import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { ServiceError } from '../errors.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import type { CheckFilter } from './check-filter.sql.ts';
import { isMatching } from './selection.sql.ts';

export type { SelectedCheck } from './selection.sql.ts';

/** A filter for checks, without the account. */
export type CheckCriteria = Omit<CheckFilter, 'accountId'>;

/** false if a text cannot be stored: no check can have it, and PostgreSQL would refuse it. */
export function canMatch({ tags, search, location }: CheckCriteria): boolean {
  return unstorableTexts([...tags, search, location]).length === 0;
}

/**
 * Requires that a locked check still matches the filter by which it was selected.
 *
 * @param criteria the filter that selected the check; null without a filter
 * @throws ServiceError 412
 */
export async function requireMatching(
  tx: Sql,
  { accountId, id }: AccountKey,
  criteria: CheckCriteria | null,
): Promise<void> {
  if (criteria === null || (await isMatching(tx, { accountId, ...criteria }, id))) return;
  throw new ServiceError(
    412,
    'The check has changed and no longer matches the filter: it was left as it is',
  );
}

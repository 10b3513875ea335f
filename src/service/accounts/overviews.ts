import type { Sql } from '../database/store.ts';
import { type AccountOverview, listOverviews, type OverviewCursor } from './overviews.sql.ts';

export type { AccountOverview } from './overviews.sql.ts';

const ACCOUNTS_PER_PAGE = 100;

/** All accounts, oldest first, a page at a time: only one page is in memory. */
export async function* accountOverviews(
  sql: Sql,
  perPage = ACCOUNTS_PER_PAGE,
): AsyncGenerator<readonly AccountOverview[], void, undefined> {
  for (let after: OverviewCursor | null = null; ; ) {
    const page: readonly (AccountOverview & OverviewCursor)[] = await listOverviews(sql, {
      after,
      limit: perPage,
    });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < perPage) return;
    after = last;
  }
}

import type { Sql } from '../database/store.ts';

/** An account as its operator sees it. */
export type AccountOverview = {
  readonly id: string;
  readonly name: string;
  /** Heartbeats included. */
  readonly checks: number;
  readonly users: number;
  readonly locations: number;
  /** API keys that are not revoked. */
  readonly keys: number;
  /** The slot of the latest result that counts for a status; null if there is none. */
  readonly lastResultAt: Date | null;
  readonly createdAt: Date;
};

/** Where the list continues. */
export type OverviewCursor = {
  /** As formatted by the database, in microseconds: a Date would round it to milliseconds. */
  readonly createdAtText: string;
  readonly id: string;
};

/**
 * Oldest first.
 *
 * @param after null for the first ones
 */
export function listOverviews(
  sql: Sql,
  { after, limit }: { readonly after: OverviewCursor | null; readonly limit: number },
): Promise<readonly (AccountOverview & OverviewCursor)[]> {
  return sql.query<AccountOverview & OverviewCursor>(
    `select a.id, a.name, a.created_at, a.created_at::text as created_at_text,
       (select count(*) from checks c where c.account_id = a.id) as checks,
       (select count(*) from memberships m where m.account_id = a.id) as users,
       (select count(*) from private_locations l where l.account_id = a.id) as locations,
       (select count(*) from api_keys k
        where k.account_id = a.id and k.revoked_at is null) as keys,
       (select max(s.last_slot) from check_statuses s where s.account_id = a.id) as last_result_at
     from (
       select id, name, created_at from accounts
       ${after === null ? '' : 'where (created_at, id) > ($2::timestamptz, $3)'}
       order by created_at, id limit $1::bigint
     ) a
     order by a.created_at, a.id`,
    after === null ? [limit] : [limit, after.createdAtText, after.id],
  );
}

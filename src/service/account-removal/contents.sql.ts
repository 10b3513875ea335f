import type { Sql } from '../database/store.ts';

/** What an account contains. The operator sees it before confirming the removal. */
export type AccountContents = {
  /** Heartbeats included. */
  readonly checks: number;
  readonly users: number;
  readonly locations: number;
  /** API keys and keys of locations, without revoked ones. */
  readonly keys: number;
  readonly channels: number;
  readonly statusPages: number;
  /** Counted up to MAX_COUNTED_RESULTS. */
  readonly results: number;
  readonly artifacts: number;
  readonly artifactBytes: number;
};

/** Bounds the time of the count: counting 50 million results would take minutes. */
export const MAX_COUNTED_RESULTS = 100_000;

export async function readContents(sql: Sql, accountId: string): Promise<AccountContents> {
  const [contents] = await sql.query<AccountContents>(
    `select
       (select count(*) from checks where account_id = $1) as checks,
       (select count(*) from memberships where account_id = $1) as users,
       (select count(*) from private_locations where account_id = $1) as locations,
       (select count(*) from api_keys where account_id = $1 and revoked_at is null)
         + (select count(*) from location_keys where account_id = $1 and revoked_at is null) as keys,
       (select count(*) from alert_channels where account_id = $1) as channels,
       (select count(*) from status_pages where account_id = $1) as status_pages,
       (select count(*) from (select from check_results where account_id = $1
          limit ${MAX_COUNTED_RESULTS}) counted) as results,
       (select count(*) from artifacts where account_id = $1) as artifacts,
       (select coalesce(sum(bytes), 0)::bigint from artifacts where account_id = $1)
         as artifact_bytes`,
    [accountId],
  );
  if (contents === undefined) throw new Error('a select without a table returned no row');
  return contents;
}

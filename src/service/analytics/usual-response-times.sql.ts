import type { Sql } from '../database/store.ts';
import type { ChecksWindow } from './rollups/availability.sql.ts';

/**
 * Computes the median of the daily averages of passed runs in all locations, in milliseconds. Uses the average
 * latency for ICMP checks, and hourly averages for a check without a complete day. Returns no entry for a check
 * without a complete hour.
 */
export async function medianResponseTimes(
  sql: Sql,
  { accountId, checkIds, fromMs, toMs }: ChecksWindow,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ checkId: string; usual: number }>(
    `with days as materialized (${averagesSql(1440, '$2::text[]')}),
     hours as (${averagesSql(60, 'array(select unnest($2::text[]) except select check_id from days)')})
     select check_id, percentile_cont(0.5) within group (order by average) as usual
     from (select * from days union all select * from hours) as averages
     group by check_id`,
    [accountId, checkIds, new Date(fromMs), new Date(toMs)],
  );
  return new Map(rows.map(({ checkId, usual }) => [checkId, usual]));
}

/** The average of each roll-up of these checks that has a passed run with a response time. */
function averagesSql(span: 60 | 1440, checkIds: string): string {
  return `select check_id, (sum(coalesce(response_time_sum, latency_avg_sum))
      / sum(coalesce(response_time_count, latency_avg_count)))::float8 as average
    from result_rollups
    where account_id = $1 and check_id = any(${checkIds}) and span = ${span}
      and start >= $3::timestamptz and start < $4::timestamptz and passed
      and coalesce(response_time_count, latency_avg_count) > 0
    group by check_id, start`;
}

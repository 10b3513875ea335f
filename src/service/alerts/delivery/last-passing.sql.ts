import type { Sql } from '../../database/store.ts';
import type { LastPassing } from '../notice.ts';

/** At most this many results are read, so that a check that always fails does not take long. */
const SCANNED = 500;
/** Bounds the daily partitions that are read. */
const DAYS = 7;

/** The last run of a check that passed and was not degraded; null if none of the newest runs within 7 days did. */
export async function findLastPassingRun(
  sql: Sql,
  {
    accountId,
    checkId,
    beforeMs,
  }: { readonly accountId: string; readonly checkId: string; readonly beforeMs: number },
): Promise<LastPassing | null> {
  const [row] = await sql.query<Omit<LastPassing, 'startedAtMs'> & { startedAt: string }>(
    `select body ->> 'startedAt' as started_at, (body ->> 'responseTime')::float8 as response_time,
       body #>> '{apiCheckResult,response,status}' as status_code
     from (
       select * from check_results
       where account_id = $1 and check_id = $2 and created_at < $3::timestamptz
         and slot > $3::timestamptz - ${DAYS} * interval '1 day' and result_type = 'FINAL'
       order by created_at desc limit ${SCANNED}) as newest
     where not has_failures and not has_errors and is_degraded is not true
       and not coalesce((body -> 'isCancelled')::boolean, false)
     order by created_at desc limit 1`,
    [accountId, checkId, new Date(beforeMs)],
  );
  if (row === undefined) return null;
  const { startedAt, ...passing } = row;
  return { ...passing, startedAtMs: Date.parse(startedAt) };
}

import type { Sql } from '../database/store.ts';
import type { StoredErrorGroup } from './sql.ts';

/** A failed run of a group whose result is stored. */
export type FailedRun = {
  readonly resultId: string;
  readonly location: string;
  readonly startedAt: Date;
};

/**
 * Finds the failed runs in a group of a check whose results are stored.
 *
 * @param order which failures of the check are read first
 * @param maxFailures how many failures of the check are read at most, in any group
 */
export function findFailedRuns(
  sql: Sql,
  {
    accountId,
    group,
    order,
    maxFailures,
  }: {
    readonly accountId: string;
    readonly group: Pick<StoredErrorGroup, 'id' | 'scope' | 'firstSeen' | 'lastSeen'>;
    readonly order: 'newest first' | 'oldest first';
    readonly maxFailures: number;
  },
): Promise<readonly FailedRun[]> {
  const direction = order === 'newest first' ? 'desc' : 'asc';
  // A run ends after it began, and its slot is at most a day earlier: both bounds limit the partitions read.
  return sql.query<FailedRun>(
    `select id as result_id, run_location as location, started_at from (
       select id, run_location, started_at, body -> 'errorGroupIds' as group_ids
       from check_results
       where account_id = $1 and check_id = $2
         and created_at >= $3::timestamptz and created_at <= $4::timestamptz + interval '1 day'
         and slot >= $3::timestamptz - interval '1 day' and slot <= $4::timestamptz + interval '1 hour'
         and result_type = 'FINAL' and has_failures
       order by created_at ${direction}, id limit $6::bigint) as failed
     where group_ids ? $5 order by started_at ${direction}, result_id`,
    [accountId, group.scope, group.firstSeen, group.lastSeen, group.id, maxFailures],
  );
}

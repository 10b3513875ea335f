import type { Store } from '../../../src/service/database/store.ts';

/** Time limit for the roll-ups of ten thousand checks. */
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Adds the roll-ups that the overview reads: the quarter hours of the last day, and the days of the
 * last week, of one location.
 */
export async function addRollUps(store: Store, accountId: string): Promise<void> {
  await store.query(
    `select make_rollup_partitions(now()::date - 8, now()::date + 1, now()::date - 8)::text`,
  );
  for (const [minutes, intervals] of [
    [15, 96],
    [1440, 7],
  ] as const) {
    // In the order of a roll-up, which does not keep those of one check together.
    const insert = `insert into result_rollups (account_id, check_id, span, start, run_location,
        status_code, passed, runs, degraded, retries, response_time_count, response_time_sum,
        response_time_min, response_time_max)
      select account_id, id, $2::int,
        date_bin(make_interval(mins => $2::int), now(), timestamptz '1970-01-01T00:00:00Z')
          - ago * make_interval(mins => $2::int),
        'office', 200, true, $2::int, 0, 0, $2::int, $2::int * 80, 20, 200
      from generate_series(1, $3::int) ago, checks where account_id = $1`;
    await store.transaction((tx) => tx.query(insert, [accountId, minutes, intervals]), {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }
  // In a real service, autovacuum would have done this.
  await store.query('vacuum (analyze) result_rollups, checks, check_statuses');
}

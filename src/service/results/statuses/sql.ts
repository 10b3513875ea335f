import type { AccountKey } from '../../database/account-key.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';

/**
 * The status of a check by its FINAL results: src/service/README.md, "Check statuses". Response times
 * are milliseconds.
 */
export type CheckStatus = {
  readonly checkId: string;
  readonly name: string;
  readonly hasFailures: boolean;
  readonly hasErrors: boolean;
  readonly isDegraded: boolean;
  readonly longestRun: number | null;
  readonly shortestRun: number | null;
  readonly lastRunLocation: string;
  readonly lastCheckRunId: string;
  /** The slot of the run that decides the status, in epoch milliseconds. */
  readonly lastSlotMs: number;
  readonly sslDaysRemaining: number | null;
  /** The slot of the run that last saw a certificate; null if none did. */
  readonly sslSlotMs: number | null;
};

export type StoredStatus = CheckStatus & {
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
};

const FIELDS = `check_id, name, has_failures, has_errors, is_degraded, longest_run, shortest_run,
  last_run_location, last_check_run_id, last_slot, ssl_days_remaining, ssl_slot`;

/** The statuses of those of the checks that have one. */
export function findStatuses(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly StoredStatus[]> {
  return sql.query<StoredStatus>(
    `select check_id, name, has_failures, has_errors, is_degraded, longest_run, shortest_run,
       coalesce(last_run_location, '') as last_run_location,
       coalesce(last_check_run_id, '') as last_check_run_id,
       coalesce((extract(epoch from last_slot) * 1000)::bigint, 0) as last_slot_ms,
       ssl_days_remaining, (extract(epoch from ssl_slot) * 1000)::bigint as ssl_slot_ms,
       created_at, updated_at
     from check_statuses where account_id = $1 and check_id = any($2::text[])`,
    [accountId, checkIds],
  );
}

/**
 * Inserts or replaces statuses. The caller has locked the checks with `lockSubjects`: each status
 * follows from the one before.
 *
 * @param statuses at most one of each check
 */
export async function putStatuses(
  sql: Sql,
  {
    accountId,
    statuses,
    atMs,
  }: {
    readonly accountId: string;
    readonly statuses: readonly CheckStatus[];
    readonly atMs: number;
  },
): Promise<void> {
  const rows = statuses.map((status) => ({
    check_id: status.checkId,
    name: status.name,
    has_failures: status.hasFailures,
    has_errors: status.hasErrors,
    is_degraded: status.isDegraded,
    longest_run: status.longestRun,
    shortest_run: status.shortestRun,
    last_run_location: status.lastRunLocation,
    last_check_run_id: status.lastCheckRunId,
    last_slot: new Date(status.lastSlotMs),
    ssl_days_remaining: status.sslDaysRemaining,
    ssl_slot: status.sslSlotMs === null ? null : new Date(status.sslSlotMs),
  }));
  await sql.query(
    `insert into check_statuses (account_id, created_at, ${FIELDS})
     select $1, $2::timestamptz, ${FIELDS}
     from jsonb_to_recordset($3::jsonb) as given (check_id text, name text, has_failures boolean,
       has_errors boolean, is_degraded boolean, longest_run float8, shortest_run float8,
       last_run_location text, last_check_run_id text, last_slot timestamptz,
       ssl_days_remaining integer, ssl_slot timestamptz)
     on conflict (account_id, check_id) do update set
       name = excluded.name, has_failures = excluded.has_failures,
       has_errors = excluded.has_errors, is_degraded = excluded.is_degraded,
       longest_run = excluded.longest_run, shortest_run = excluded.shortest_run,
       last_run_location = excluded.last_run_location,
       last_check_run_id = excluded.last_check_run_id, last_slot = excluded.last_slot,
       ssl_days_remaining = excluded.ssl_days_remaining, ssl_slot = excluded.ssl_slot,
       updated_at = excluded.created_at`,
    [accountId, new Date(atMs), jsonText(rows)],
  );
}

/** The status of one check; null until a run has ended. */
export async function findStatus(sql: Sql, { accountId, id }: AccountKey) {
  const [found] = await findStatuses(sql, { accountId, checkIds: [id] });
  return found ?? null;
}

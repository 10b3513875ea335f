import { type RunState, type StateHistory, sinceOf } from '../../../model/result/check-state.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';

/**
 * The status of a check according to its FINAL results: src/service/README.md, "Check statuses". Response times
 * are in milliseconds.
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
  /** The response time of the run that decides the status, in milliseconds; null if that run judged nothing. */
  readonly lastResponseTime: number | null;
  /** The error of the last run that failed; null if none failed. */
  readonly lastError: LastError | null;
  readonly known: KnownState;
};

export interface LastError {
  /** null if the run got a response that did not meet an assertion, a criterion or a limit. */
  readonly code: string | null;
  readonly message: string | null;
  readonly location: string;
  readonly slotMs: number;
}

/** The state of a check as stored in its row. */
export interface KnownState {
  /** null: no run judged the check, or `version` is null. */
  readonly history: StateHistory | null;
  /** Increases with every write of the row. null: outdated, see `OutdatedStates.refresh`. */
  readonly version: number | null;
  /** The earliest slot after `lastSlotMs` whose result came too late to decide the status. */
  readonly skippedSlotMs: number | null;
}

type StatusRow = Omit<CheckStatus, 'lastError' | 'known'> & {
  readonly lastErrorCode: string | null;
  readonly lastErrorMessage: string | null;
  readonly lastErrorLocation: string | null;
  readonly lastErrorSlotMs: number | null;
  readonly state: RunState | null;
  readonly stateSlotMs: number | null;
  readonly stateBefore: RunState | null;
  readonly sinceBeforeMs: number | null;
  readonly stateVersion: number | null;
  readonly skippedSlotMs: number | null;
};

const FIELDS = `check_id, name, has_failures, has_errors, is_degraded, longest_run, shortest_run,
  last_run_location, last_check_run_id, last_slot, ssl_days_remaining, ssl_slot, last_response_time,
  last_error_code, last_error_message, last_error_location, last_error_slot, state, since, state_slot,
  state_before, since_before, state_version, skipped_slot`;

/** The fields among these that an update replaces. */
const REPLACED = FIELDS.split(/,\s*/).filter((field) => field !== 'check_id');

/**
 * The values that an update sets if the new state is outdated: what is known until `OutdatedStates.refresh` has
 * read the state from the results.
 */
const OUTDATED_STATE = `case when excluded.has_errors then check_statuses.state
  when excluded.has_failures then 'failing' when excluded.is_degraded then 'degraded'
  else 'passing' end`;
const WHILE_OUTDATED: Readonly<Record<string, string>> = {
  state: OUTDATED_STATE,
  since: `case when ${OUTDATED_STATE} = check_statuses.state then check_statuses.since end`,
};

const assignmentOf = (field: string): string => {
  const outdated = WHILE_OUTDATED[field];
  return outdated === undefined
    ? `${field} = excluded.${field}`
    : `${field} = case when excluded.state_version is null then ${outdated} else excluded.${field} end`;
};

/** Epoch milliseconds of a column. */
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`;

/** Returns the statuses of these checks; checks without one are omitted. */
export async function findStatuses(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly CheckStatus[]> {
  const rows = await sql.query<StatusRow>(
    `select check_id, name, has_failures, has_errors, is_degraded, longest_run, shortest_run,
       coalesce(last_run_location, '') as last_run_location,
       coalesce(last_check_run_id, '') as last_check_run_id,
       coalesce(${ms('last_slot')}, 0) as last_slot_ms,
       ssl_days_remaining, ${ms('ssl_slot')} as ssl_slot_ms, last_response_time, last_error_code,
       last_error_message, last_error_location, ${ms('last_error_slot')} as last_error_slot_ms,
       state, ${ms('state_slot')} as state_slot_ms, state_before,
       ${ms('since_before')} as since_before_ms, state_version, ${ms('skipped_slot')} as skipped_slot_ms
     from check_statuses where account_id = $1 and check_id = any($2::text[])`,
    [accountId, checkIds],
  );
  return rows.map(statusOf);
}

function statusOf({
  lastErrorCode: code,
  lastErrorMessage: message,
  lastErrorLocation: location,
  lastErrorSlotMs,
  state,
  stateSlotMs,
  stateBefore,
  sinceBeforeMs,
  stateVersion: version,
  skippedSlotMs,
  ...row
}: StatusRow): CheckStatus {
  const before =
    stateBefore === null || sinceBeforeMs === null
      ? null
      : { state: stateBefore, sinceMs: sinceBeforeMs };
  const history =
    version === null || state === null || stateSlotMs === null
      ? null
      : { state, slotMs: stateSlotMs, before };
  return {
    ...row,
    lastError:
      lastErrorSlotMs === null
        ? null
        : { code, message, location: location ?? '', slotMs: lastErrorSlotMs },
    known: { history, version, skippedSlotMs },
  };
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
  const rows = statuses.map((status) => {
    const { lastError, known } = status;
    const { history } = known;
    return {
      check_id: status.checkId,
      name: status.name,
      has_failures: status.hasFailures,
      has_errors: status.hasErrors,
      is_degraded: status.isDegraded,
      longest_run: status.longestRun,
      shortest_run: status.shortestRun,
      last_run_location: status.lastRunLocation,
      last_check_run_id: status.lastCheckRunId,
      last_slot: dateOf(status.lastSlotMs),
      ssl_days_remaining: status.sslDaysRemaining,
      ssl_slot: dateOf(status.sslSlotMs),
      last_response_time: status.lastResponseTime,
      last_error_code: lastError?.code ?? null,
      last_error_message: lastError?.message ?? null,
      last_error_location: lastError?.location ?? null,
      last_error_slot: dateOf(lastError?.slotMs ?? null),
      state: history?.state ?? null,
      since: history === null ? null : dateOf(sinceOf(history)),
      state_slot: dateOf(history?.slotMs ?? null),
      state_before: history?.before?.state ?? null,
      since_before: dateOf(history?.before?.sinceMs ?? null),
      state_version: known.version,
      skipped_slot: dateOf(known.skippedSlotMs),
    };
  });
  await sql.query(
    `insert into check_statuses (account_id, created_at, ${FIELDS})
     select $1, $2::timestamptz, ${FIELDS}
     from jsonb_to_recordset($3::jsonb) as given (check_id text, name text, has_failures boolean,
       has_errors boolean, is_degraded boolean, longest_run float8, shortest_run float8,
       last_run_location text, last_check_run_id text, last_slot timestamptz,
       ssl_days_remaining integer, ssl_slot timestamptz, last_response_time float8,
       last_error_code text, last_error_message text, last_error_location text,
       last_error_slot timestamptz, state text, since timestamptz, state_slot timestamptz,
       state_before text, since_before timestamptz, state_version bigint, skipped_slot timestamptz)
     on conflict (account_id, check_id) do update set
       ${REPLACED.map(assignmentOf).join(', ')},
       updated_at = excluded.created_at`,
    [accountId, new Date(atMs), jsonText(rows)],
  );
}

function dateOf(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs);
}

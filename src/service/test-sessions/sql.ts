import type { TestSessionFacts } from '../../model/result/test-session.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { MissedRecord } from '../../wire/v1/results.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { ListRange } from '../database/lists/list-walk.ts';
import { type List, readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { SHOWN_RESULT } from '../results/shared.sql.ts';

/** A slot, or several, without a run. */
export type MissedRun = Omit<MissedRecord, 'id'>;

export type SessionTotals = {
  /** FINAL results by their outcome. */
  readonly counts: {
    readonly passed: number;
    readonly degraded: number;
    readonly failed: number;
    readonly error: number;
    readonly cancelled: number;
  };
  /** Includes ATTEMPTs. */
  readonly results: number;
  readonly missed: readonly MissedRun[];
  readonly errorGroupIds: readonly string[];
  /** null without a result, as is `stoppedAt`. */
  readonly startedAt: Date | null;
  readonly stoppedAt: Date | null;
};

export type StoredTestSession = SessionTotals & {
  readonly id: string;
  readonly facts: TestSessionFacts;
  readonly createdAt: Date;
  /** null until results were added to it. */
  readonly updatedAt: Date | null;
};

const ALL_BUT_MISSED = `id, jsonb_build_object('name', name, 'projectId', project_id,
    'environment', environment, 'provider', provider, 'repository', repository, 'branch', branch,
    'commitId', commit_id) as facts,
  jsonb_build_object('passed', passed, 'degraded', degraded, 'failed', failed, 'error', errors,
    'cancelled', cancelled) as counts,
  started_at, stopped_at, results, error_group_ids, created_at, updated_at`;
const COLUMNS = `${ALL_BUT_MISSED}, missed`;

/** @returns false if the account has a session with the id */
export async function insertTestSession(
  sql: Sql,
  {
    accountId,
    id,
    facts,
    createdAtMs,
  }: AccountKey & { readonly facts: TestSessionFacts; readonly createdAtMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into test_sessions (account_id, id, name, project_id, environment, provider, repository,
       branch, commit_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz)
     on conflict do nothing
     returning 1 as one`,
    [
      accountId,
      id,
      facts.name,
      facts.projectId,
      facts.environment,
      facts.provider,
      facts.repository,
      facts.branch,
      facts.commitId,
      new Date(createdAtMs),
    ],
  );
  return rows.length > 0;
}

export async function findTestSession(
  sql: Sql,
  key: AccountKey,
): Promise<StoredTestSession | null> {
  return readSession(sql, key, '');
}

/** Locks the session until the transaction ends. */
export async function lockTestSession(
  sql: Sql,
  key: AccountKey,
): Promise<StoredTestSession | null> {
  return readSession(sql, key, 'for update');
}

async function readSession(
  sql: Sql,
  { accountId, id }: AccountKey,
  lock: '' | 'for update',
): Promise<StoredTestSession | null> {
  const [row] = await sql.query<StoredTestSession>(
    `select ${COLUMNS} from test_sessions where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return row ?? null;
}

type Fitting = { readonly fitting: readonly MissedRun[] | null };

/**
 * Newest first.
 *
 * @param maxBytes of the missed runs of all listed sessions
 * @returns null if these have more
 */
export async function listTestSessions(
  sql: Sql,
  {
    accountId,
    projectId,
    ...range
  }: AccountRange & {
    /** null for all sessions. */
    readonly projectId: string | null;
  },
  maxBytes: number,
): Promise<readonly StoredTestSession[] | null> {
  const list: List = {
    columns: '*',
    from: 'test_sessions',
    where: `account_id = $1 ${projectId === null ? '' : 'and project_id = $2'}`,
    params: [accountId, ...(projectId === null ? [] : [projectId])],
    order: 'created_at desc, id',
    wrap: (page, order, keys) => `select ${ALL_BUT_MISSED}, case
        when sum(octet_length(missed::text)) over () <= ${maxBytes} then missed end as fitting ${keys}
      from (${page}) as page ${order}`,
  };
  const rows = await readList<Omit<StoredTestSession, 'missed'> & Fitting>(sql, list, range);
  if (rows.some(({ fitting }) => fitting === null)) return null;
  return rows.map(({ fitting, ...session }) => ({ ...session, missed: fitting ?? [] }));
}

/**
 * Only for a session that `lockTestSession` locks.
 *
 * @returns the ids of the new results
 */
export async function insertSessionResults(
  sql: Sql,
  { accountId, id, results }: AccountKey & { readonly results: readonly ReceivedResult[] },
): Promise<ReadonlySet<string>> {
  if (results.length === 0) return new Set();
  const rows = await sql.query<{ id: string }>(
    `insert into test_session_results (account_id, session_id, id, result_type, has_failures,
       started_at, body)
     select $1, $2, r ->> 'id', r ->> 'resultType', (r -> 'hasFailures')::boolean,
       (r ->> 'startedAt')::timestamptz, r
     from jsonb_array_elements($3::jsonb) r
     on conflict do nothing
     returning id`,
    [accountId, id, jsonText(results)],
  );
  return new Set(rows.map((row) => row.id));
}

/** Only for a session that `lockTestSession` locks. */
export async function putTotals(
  sql: Sql,
  {
    accountId,
    id,
    totals,
    updatedAtMs,
  }: AccountKey & {
    readonly totals: SessionTotals;
    /** null for a new session. */
    readonly updatedAtMs: number | null;
  },
): Promise<StoredTestSession | null> {
  const { counts } = totals;
  const [row] = await sql.query<StoredTestSession>(
    `update test_sessions set passed = $3::int, degraded = $4::int, failed = $5::int,
       errors = $6::int, cancelled = $7::int, results = $8::int, missed = $9::jsonb,
       error_group_ids = $10::text[], started_at = $11::timestamptz, stopped_at = $12::timestamptz,
       updated_at = $13::timestamptz
     where account_id = $1 and id = $2
     returning ${COLUMNS}`,
    [
      accountId,
      id,
      counts.passed,
      counts.degraded,
      counts.failed,
      counts.error,
      counts.cancelled,
      totals.results,
      jsonText(totals.missed),
      totals.errorGroupIds,
      totals.startedAt,
      totals.stoppedAt,
      updatedAtMs === null ? null : new Date(updatedAtMs),
    ],
  );
  return row ?? null;
}

export interface SessionResultFilter extends AccountKey, ListRange {
  readonly resultTypes: readonly ReceivedResult['resultType'][];
  /** null for all. */
  readonly hasFailures: boolean | null;
}

/**
 * The bodies as JSON texts, in the order in which the runs began.
 *
 * @param maxBytes of all listed results
 * @returns null if these have more
 */
export async function listSessionResults(
  sql: Sql,
  filter: SessionResultFilter,
  maxBytes: number,
): Promise<readonly string[] | null> {
  const list: List = {
    columns: `${SHOWN_RESULT} as body, started_at, id`,
    from: 'test_session_results',
    where: 'account_id = $1 and session_id = $2',
    filter: 'result_type = any($3::text[]) and ($4::boolean is null or has_failures = $4::boolean)',
    params: [filter.accountId, filter.id, filter.resultTypes, filter.hasFailures],
    order: 'started_at, id',
    wrap: (page, order, keys) => `select
        case when sum(octet_length(body)) over () <= ${maxBytes} then body end as body ${keys}
      from (${page}) as page ${order}`,
  };
  const rows = await readList<{ body: string | null }>(sql, list, filter);
  const bodies = rows.flatMap(({ body }) => (body === null ? [] : [body]));
  return bodies.length === rows.length ? bodies : null;
}

/** Deletes its results, too. @returns false if there was none */
export async function deleteTestSession(sql: Sql, { accountId, id }: AccountKey): Promise<boolean> {
  const rows = await sql.query(
    'delete from test_sessions where account_id = $1 and id = $2 returning 1 as one',
    [accountId, id],
  );
  return rows.length > 0;
}

/** @returns how many it deleted, at most the limit */
export async function deleteTestSessionsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from test_sessions where ctid = any (array(
       select ctid from test_sessions where created_at < $1::timestamptz
       order by created_at limit $2::bigint))
     returning 1 as one`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

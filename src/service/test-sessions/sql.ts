import type { TestSessionFacts } from '../../model/result/test-session.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { MissedRecord } from '../../wire/v1/results.ts';
import type { Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';
import { SHOWN_RESULT } from '../results/exports.ts';

/** A run that was not made. */
export type MissedRun = Omit<MissedRecord, 'id'>;

/** FINAL results by how they ended. */
export interface SessionCounts {
  readonly passed: number;
  readonly degraded: number;
  readonly failed: number;
  readonly error: number;
  readonly cancelled: number;
}

/** What the results of a session add up to. */
export interface SessionTotals {
  readonly counts: SessionCounts;
  /** ATTEMPTs too. */
  readonly results: number;
  readonly missed: readonly MissedRun[];
  readonly errorGroupIds: readonly string[];
  /** null as long as there is no result. */
  readonly startedAt: Date | null;
  readonly stoppedAt: Date | null;
}

export interface StoredSession extends SessionTotals {
  readonly id: string;
  readonly facts: TestSessionFacts;
  readonly createdAt: Date;
  /** null as long as nothing was added to it. */
  readonly updatedAt: Date | null;
}

export interface SessionKey {
  readonly accountId: string;
  readonly id: string;
}

type SessionRow = {
  readonly id: string;
  readonly name: string | null;
  readonly projectId: string | null;
  readonly environment: string | null;
  readonly provider: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly commitId: string | null;
  readonly startedAt: Date | null;
  readonly stoppedAt: Date | null;
  readonly passed: number;
  readonly degraded: number;
  readonly failed: number;
  readonly errors: number;
  readonly cancelled: number;
  readonly results: number;
  readonly missed: readonly MissedRun[];
  readonly errorGroupIds: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

const ALL_BUT_MISSED = `id, name, project_id, environment, provider, repository, branch, commit_id,
  started_at, stopped_at, passed, degraded, failed, errors, cancelled, results, error_group_ids,
  created_at, updated_at`;
const COLUMNS = `${ALL_BUT_MISSED}, missed`;

function sessionOf(row: SessionRow): StoredSession {
  return {
    id: row.id,
    facts: {
      name: row.name,
      projectId: row.projectId,
      environment: row.environment,
      provider: row.provider,
      repository: row.repository,
      branch: row.branch,
      commitId: row.commitId,
    },
    counts: {
      passed: row.passed,
      degraded: row.degraded,
      failed: row.failed,
      error: row.errors,
      cancelled: row.cancelled,
    },
    results: row.results,
    missed: row.missed,
    errorGroupIds: row.errorGroupIds,
    startedAt: row.startedAt,
    stoppedAt: row.stoppedAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** @returns false where the account has one of that id */
export async function insertSession(
  sql: Sql,
  {
    accountId,
    id,
    facts,
    createdAtMs,
  }: SessionKey & { readonly facts: TestSessionFacts; readonly createdAtMs: number },
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

export async function findSession(sql: Sql, key: SessionKey): Promise<StoredSession | null> {
  return readSession(sql, key, '');
}

/** Until the transaction ends, nobody else adds to it. */
export async function lockSession(sql: Sql, key: SessionKey): Promise<StoredSession | null> {
  return readSession(sql, key, 'for update');
}

async function readSession(
  sql: Sql,
  { accountId, id }: SessionKey,
  lock: '' | 'for update',
): Promise<StoredSession | null> {
  const rows = await sql.query<SessionRow>(
    `select ${COLUMNS} from test_sessions where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : sessionOf(rows[0]);
}

type Fitting = { readonly fitting: readonly MissedRun[] | null };

/**
 * Newest first.
 *
 * @param maxBytes of the missed runs of them all
 * @returns null where they have more
 */
export async function listSessions(
  sql: Sql,
  {
    accountId,
    projectId,
    limit,
    offset,
  }: {
    readonly accountId: string;
    /** null for any, and for none. */
    readonly projectId: string | null;
    readonly limit: number;
    readonly offset: number;
  },
  maxBytes: number,
): Promise<readonly StoredSession[] | null> {
  const rows = await sql.query<Omit<SessionRow, 'missed'> & Fitting>(
    `select ${ALL_BUT_MISSED}, case
       when sum(octet_length(missed::text)) over () <= $4::bigint then missed end as fitting
     from (
       select ${COLUMNS} from test_sessions
       where account_id = $1 ${projectId === null ? '' : 'and project_id = $5'}
       order by created_at desc, id limit $2::bigint offset $3::bigint
     ) as page
     order by created_at desc, id`,
    [accountId, limit, offset, maxBytes, ...(projectId === null ? [] : [projectId])],
  );
  if (rows.some(({ fitting }) => fitting === null)) return null;
  return rows.map(({ fitting, ...row }) => sessionOf({ ...row, missed: fitting ?? [] }));
}

/** Only for a session that `lockSession` holds. @returns the ids of those that were not there */
export async function insertSessionResults(
  sql: Sql,
  { accountId, id, results }: SessionKey & { readonly results: readonly ReceivedResult[] },
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

/** Only for a session that `lockSession` holds. */
export async function putTotals(
  sql: Sql,
  {
    accountId,
    id,
    totals,
    updatedAtMs,
  }: SessionKey & {
    readonly totals: SessionTotals;
    /** null where it was made just now. */
    readonly updatedAtMs: number | null;
  },
): Promise<StoredSession | null> {
  const { counts } = totals;
  const rows = await sql.query<SessionRow>(
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
  return rows[0] === undefined ? null : sessionOf(rows[0]);
}

export interface SessionResultFilter extends SessionKey {
  readonly resultTypes: readonly ReceivedResult['resultType'][];
  /** null for all. */
  readonly hasFailures: boolean | null;
  readonly limit: number;
  readonly offset: number;
}

/**
 * The bodies as JSON texts, in the order in which the runs began.
 *
 * @param maxBytes of them all
 * @returns null where they have more
 */
export async function listSessionResults(
  sql: Sql,
  filter: SessionResultFilter,
  maxBytes: number,
): Promise<readonly string[] | null> {
  const rows = await sql.query<{ body: string | null }>(
    `select case when sum(octet_length(body)) over () <= $7::bigint then body end as body
     from (
       select ${SHOWN_RESULT} as body, started_at, id from test_session_results
       where account_id = $1 and session_id = $2 and result_type = any($3::text[])
         and ($4::boolean is null or has_failures = $4::boolean)
       order by started_at, id limit $5::bigint offset $6::bigint
     ) as page
     order by started_at, id`,
    [
      filter.accountId,
      filter.id,
      filter.resultTypes,
      filter.hasFailures,
      filter.limit,
      filter.offset,
      maxBytes,
    ],
  );
  const bodies = rows.flatMap(({ body }) => (body === null ? [] : [body]));
  return bodies.length === rows.length ? bodies : null;
}

/** With its results. @returns false where there was none */
export async function deleteSession(sql: Sql, { accountId, id }: SessionKey): Promise<boolean> {
  const rows = await sql.query(
    'delete from test_sessions where account_id = $1 and id = $2 returning 1 as one',
    [accountId, id],
  );
  return rows.length > 0;
}

/** Removes sessions that came before the instant, as many as the limit at most. */
export async function deleteSessionsBefore(
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

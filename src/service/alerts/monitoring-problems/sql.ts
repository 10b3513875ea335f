import {
  MONITORING_PROBLEMS,
  type MonitoringProblem,
  PROBLEM_RULES,
} from '../../../model/alerting/monitoring-problems.ts';
import type {
  NoticePreferences,
  ProblemPreferences,
} from '../../../model/alerting/notice-preferences.ts';
import { readList } from '../../database/lists/lists.ts';
import type { AccountRange } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';
import { NOTICE_PREFERENCES } from '../location-alerts.sql.ts';
import type { ProblemSubject } from './subject.ts';

/** A problem of monitoring itself that has begun, or may begin. */
export type StoredProblem = {
  readonly id: string;
  readonly accountId: string;
  readonly kind: MonitoringProblem;
  /** The id of the location or the channel, or `disk`. */
  readonly subjectId: string;
  readonly subject: ProblemSubject;
  /** What was found last. */
  readonly message: string;
  readonly since: Date;
};

/** What a scan found. */
export type FoundProblem = Omit<StoredProblem, 'since'>;

const COLUMNS = 'p.id, p.account_id, p.kind, p.subject_id, p.subject, p.message, p.since';
/** A problem that has not begun starts again if no scan found it for this time. */
const MAX_GAP = "interval '1 minute'";

/** Stores problems that a scan found. */
export async function saveFoundProblems(
  sql: Sql,
  { found, atMs }: { readonly found: readonly FoundProblem[]; readonly atMs: number },
): Promise<void> {
  if (found.length === 0) return;
  await sql.query(
    // In the order of ids: two replicas cannot deadlock.
    `insert into monitoring_problems as p (id, account_id, kind, subject_id, subject, message, since,
       seen_at)
     select id, "accountId", kind, "subjectId", subject, message, $2::timestamptz, $2::timestamptz
     from jsonb_to_recordset($1::jsonb) as given (id text, "accountId" text, kind text,
       "subjectId" text, subject jsonb, message text)
     order by id
     on conflict (id) do update set
       subject = excluded.subject, message = excluded.message,
       seen_at = greatest(p.seen_at, excluded.seen_at),
       since = case when p.begun_at is null and p.seen_at < excluded.seen_at - ${MAX_GAP}
         then excluded.since else p.since end`,
    [jsonText(found), new Date(atMs)],
  );
}

/** Keeps problems that have begun from ending. */
export async function extendProblems(
  sql: Sql,
  { ids, atMs }: { readonly ids: readonly string[]; readonly atMs: number },
): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `with begun as materialized (
       select id from monitoring_problems where id = any($1::text[]) and begun_at is not null
       order by id for update skip locked
     )
     update monitoring_problems p set seen_at = greatest(p.seen_at, $2::timestamptz)
     from begun where p.id = begun.id`,
    [ids, new Date(atMs)],
  );
}

/**
 * Deletes problems that have not begun and that the scan at `atMs` did not find. During an upgrade, replicas of the
 * previous release do not find agents that are outdated for the new one: such a problem is deleted only after no
 * replica found it for MAX_GAP.
 */
export async function deleteUncertainProblems(
  sql: Sql,
  { atMs }: { readonly atMs: number },
): Promise<void> {
  await sql.query(
    `delete from monitoring_problems where begun_at is null and seen_at < $1::timestamptz
       - case kind when 'AGENT_OUTDATED' then ${MAX_GAP} else interval '0' end`,
    [new Date(atMs)],
  );
}

/** How long a problem of each kind must be found before it begins, or not be found before it ends. Milliseconds. */
export type LengthByKind = Readonly<Record<MonitoringProblem, number>>;

/**
 * Begins the problems that have lasted long enough, each in one replica. From then on they are listed.
 *
 * @returns those that it began, at most `limit`
 */
export function beginProblems(
  sql: Sql,
  {
    atMs,
    after,
    limit,
  }: { readonly atMs: number; readonly after: LengthByKind; readonly limit: number },
): Promise<readonly StoredProblem[]> {
  return sql.query<StoredProblem>(
    `with due as materialized (
       select id from monitoring_problems
       where begun_at is null
         and since <= $1::timestamptz - ($2::jsonb ->> kind)::float8 * interval '1 millisecond'
       order by id limit $3::int for update skip locked
     )
     update monitoring_problems p
     set begun_at = $1::timestamptz, list_position = next_list_position() from due
     where p.id = due.id and p.begun_at is null
     returning ${COLUMNS}`,
    [new Date(atMs), jsonText(after), limit],
  );
}

/** A problem that was not found for long enough. */
export type EndedProblem = StoredProblem & {
  /** False if its agents are gone or its channel was deleted: it is unknown whether the problem is over. */
  readonly isKnown: boolean;
};

/**
 * Deletes the problems that have begun and were not found for long enough. Skips those that another transaction has
 * locked.
 *
 * @returns those that it deleted, at most `limit`
 */
export function endProblems(
  sql: Sql,
  {
    atMs,
    after,
    limit,
  }: { readonly atMs: number; readonly after: LengthByKind; readonly limit: number },
): Promise<readonly EndedProblem[]> {
  return sql.query<EndedProblem>(
    `with ended as materialized (
       select id from monitoring_problems
       where begun_at is not null and seen_at < $1::timestamptz
         and seen_at <= $1::timestamptz - ($2::jsonb ->> kind)::float8 * interval '1 millisecond'
       order by id limit $3::int for update skip locked
     )
     delete from monitoring_problems p using ended where p.id = ended.id
     returning ${COLUMNS}, case p.subject ->> 'kind'
       when 'location' then coalesce(
         (select bool_or(coalesce(g.lease_until > $1::timestamptz, false)) from agents g
          where g.location_id = p.subject_id and g.ended_at is null), true)
       when 'channel' then exists (select from alert_channels c
         where c.account_id = p.account_id and c.id::text = p.subject_id)
       else true end as is_known`,
    [new Date(atMs), jsonText(after), limit],
  );
}

/**
 * Locks the problems with channels that are still to be notified, in the order of their ids, until the transaction
 * ends. Skips those that another transaction has locked.
 */
export function lockPendingProblems(
  sql: Sql,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<readonly StoredProblem[]> {
  return sql.query<StoredProblem>(
    `select ${COLUMNS} from monitoring_problems p where p.notices_pending and p.id > $1
     order by p.id limit $2::int for update skip locked`,
    [afterId, limit],
  );
}

/** Only for a problem that this transaction began or locked. */
export async function putProblemPending(
  sql: Sql,
  { id, isPending }: { readonly id: string; readonly isPending: boolean },
): Promise<void> {
  await sql.query('update monitoring_problems set notices_pending = $2::boolean where id = $1', [
    id,
    isPending,
  ]);
}

/** A channel of the account. */
type ChannelOfAccount = NoticePreferences &
  ProblemPreferences & { readonly channelId: number; readonly isFailing: boolean };

export function listChannelsOfAccount(
  sql: Sql,
  { accountId }: { readonly accountId: string },
): Promise<readonly ChannelOfAccount[]> {
  return sql.query<ChannelOfAccount>(
    `select c.id as channel_id, ${NOTICE_PREFERENCES}, exists (select from monitoring_problems p
       where p.account_id = $1 and p.kind = 'CHANNEL_FAILING' and p.subject_id = c.id::text) as is_failing
     from alert_channels c where c.account_id = $1 order by c.id`,
    [accountId],
  );
}

/** A problem that has begun and has not ended. */
export type OpenProblem = StoredProblem & { readonly begunAt: Date };

export interface ProblemFilter {
  /** Empty for all. */
  readonly kinds: readonly MonitoringProblem[];
  /** Null for any subject. */
  readonly locationId: string | null;
  readonly channelId: number | null;
}

const CRITICAL_KINDS = MONITORING_PROBLEMS.filter(
  (kind) => PROBLEM_RULES[kind].severity === 'critical',
).map((kind) => `'${kind}'`);

/** The worst first, and of those the newest. */
export function listProblems(
  sql: Sql,
  { accountId, kinds, locationId, channelId, ...range }: AccountRange & ProblemFilter,
): Promise<readonly OpenProblem[]> {
  const list = {
    columns: `${COLUMNS}, p.begun_at`,
    from: 'monitoring_problems p',
    where: 'p.account_id = $1',
    filter: `p.begun_at is not null and (cardinality($2::text[]) = 0 or p.kind = any($2::text[]))
      and ($3::text is null or p.subject ->> 'kind' = 'location' and p.subject_id = $3::text)
      and ($4::text is null or p.subject ->> 'kind' = 'channel' and p.subject_id = $4::text)`,
    params: [accountId, kinds, locationId, channelId === null ? null : String(channelId)],
    order: `(p.kind in (${CRITICAL_KINDS.join(', ')})) desc, p.since desc, p.id`,
  };
  return readList<OpenProblem>(sql, list, range);
}

/** How many problems of each kind there are, of all accounts. */
export function countProblems(
  sql: Sql,
): Promise<readonly { readonly kind: MonitoringProblem; readonly problems: number }[]> {
  return sql.query<{ kind: MonitoringProblem; problems: number }>(
    `select kind, count(*) as problems from monitoring_problems
     where begun_at is not null group by kind`,
  );
}

import type { AlertType } from '../../../model/alerting/alert.ts';
import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/store.ts';
import { SUBSCRIBERS } from '../channels/subscribers.sql.ts';
import { NOTICES_CHANNEL } from '../delivery/sql.ts';
import { IS_STATE_OPEN, STATES_OF_CHECKS } from '../sql.ts';

/** The subjects of open alerts. */
export type RepeatedKind = 'check' | 'location' | 'monitoring';

/** A check, a silent location or a problem of monitoring itself, and a channel that was notified of it. */
export type OpenPair = {
  readonly accountId: string;
  /** The `check_id` of its deliveries. */
  readonly subjectId: string;
  readonly channelId: number;
};

export interface RepeatQuery {
  readonly channelTypes: readonly AlertChannelType[];
  /** The types of alerts that report the end of a problem. */
  readonly ends: readonly AlertType[];
  /** Only pairs whose last notice was finished by then; epoch milliseconds. */
  readonly finishedByMs: number;
}

/** The last delivery of a subject to a channel, certificates excluded. */
function lastDelivery(accountId: string, subjectId: string, channelId: string): string {
  return `select d.id, d.alert_type, d.finished_at, d.created_at from alert_deliveries d
    where d.account_id = ${accountId} and d.check_id = ${subjectId} and d.channel_id = ${channelId}
      and d.alert_type <> 'ALERT_SSL'
    order by d.seq desc limit 1`;
}

/**
 * The last delivery may be of an earlier problem whose end the channel did not get: the check failed then and is only
 * degraded now, or the location or problem began after that delivery.
 */
const FAILURES = "('ALERT_FAILURE', 'ALERT_FAILURE_REMAIN', 'ALERT_DEGRADED_FAILURE')";

/**
 * Per kind: the rows `s` of what is open, the id of the subject, whether the channel `ch` still gets its notices, and
 * the rows to lock. A check whose subscribers got no notice of its state has no open alert: its last delivery is of an
 * earlier problem.
 */
const OPEN: Readonly<Record<RepeatedKind, OpenRows>> = {
  check: {
    from: STATES_OF_CHECKS,
    where: `${IS_STATE_OPEN}
      and (s.body #>> '{state,told}' is not null or s.body #>> '{flapping,started}' is not null)
      and (last.alert_type not in ${FAILURES}
        or 'failing' in (s.body #>> '{state,told}', s.body #>> '{flapping,started,as}'))`,
    id: 's.check_id',
    isNotified: `(s.body -> 'escalatedTo' @> to_jsonb(ch.id) or exists (select from ${SUBSCRIBERS} x
      where x.account_id = s.account_id and x.check_id = s.check_id and x.channel_id = ch.id))`,
    locks: 'for no key update of c, s',
  },
  location: {
    from: 'silent_locations s',
    where: 'last.created_at >= s.since',
    id: 's.location_id',
    isNotified: 'true',
    locks: 'for update of s',
  },
  monitoring: {
    from: 'monitoring_problems s',
    where: 'last.created_at >= s.begun_at',
    id: 's.id',
    isNotified: 'true',
    locks: 'for update of s',
  },
};

interface OpenRows {
  readonly from: string;
  readonly where: string;
  readonly id: string;
  readonly isNotified: string;
  readonly locks: string;
}

/**
 * The rows of what is open, with the channels `ch` that were notified of it and their last delivery.
 *
 * @param pairs joins `pair` to restrict them, after `s`
 */
function openPairs(kind: RepeatedKind, pairs = ''): string {
  const { from, where, id, isNotified } = OPEN[kind];
  const isOfPair = pairs === '' ? '' : 'and ch.id = pair.channel_id';
  return `from ${from} ${pairs}
      join alert_channels ch on ch.account_id = s.account_id ${isOfPair}
      cross join lateral (${lastDelivery('s.account_id', id, 'ch.id')}) last
    where ch.type = any($1::text[]) and ${where} and ${isNotified} and last.alert_type <> all($2::text[])`;
}

/** `limit` applies to all channels together, `perChannel` to each, including what waits already. */
export interface DueLimits {
  readonly perChannel: number;
  /** At most this share of all open pairs, so that they are not sent all at once; from 0 to 1. */
  readonly share: number;
  /** At least this many, however few are open. */
  readonly atLeast: number;
  readonly limit: number;
}

/** The pairs whose last notice is to be sent again, the longest due first. */
export function listDuePairs(
  sql: Sql,
  {
    kind,
    channelTypes,
    ends,
    finishedByMs,
    perChannel,
    share,
    atLeast,
    limit,
  }: RepeatQuery & DueLimits & { readonly kind: RepeatedKind },
): Promise<readonly OpenPair[]> {
  const { id } = OPEN[kind];
  return sql.query<OpenPair>(
    `with pairs as materialized (
       select s.account_id, ${id} as subject_id, ch.id as channel_id, last.finished_at
       ${openPairs(kind)}
     ), waiting as (
       select d.channel_id, count(*) as count from alert_deliveries d
       where d.finished_at is null and d.notice ? 'isRepeated' group by d.channel_id
     ), due as (
       select pairs.*, row_number() over (partition by channel_id order by finished_at) as place
       from pairs where finished_at <= $3::timestamptz
     )
     select account_id, subject_id, channel_id from due left join waiting using (channel_id)
     where place <= $4::int - coalesce(waiting.count, 0)
     order by finished_at
     limit least($7::int, greatest($6::int, (select ceil(count(*) * $5::float8)::int from pairs)))`,
    [channelTypes, ends, new Date(finishedByMs), perChannel, share, atLeast, limit],
  );
}

/**
 * Locks the pairs that are still open and due until the transaction ends, so that nobody ends them meanwhile. Skips
 * those that another transaction has locked.
 */
export function lockDuePairs(
  sql: Sql,
  {
    kind,
    pairs,
    channelTypes,
    ends,
    finishedByMs,
  }: RepeatQuery & { readonly kind: RepeatedKind; readonly pairs: readonly OpenPair[] },
): Promise<readonly OpenPair[]> {
  const { id, locks } = OPEN[kind];
  const given = `join unnest($4::text[], $5::text[], $6::bigint[]) as pair (account_id, subject_id, channel_id)
    on pair.account_id = s.account_id and pair.subject_id = ${id}`;
  return sql.query<OpenPair>(
    `select s.account_id, ${id} as subject_id, ch.id as channel_id
     ${openPairs(kind, given)} and last.finished_at <= $3::timestamptz
     ${locks} skip locked`,
    [channelTypes, ends, new Date(finishedByMs), ...columnsOf(pairs)],
  );
}

/** The parameters of `unnest`: accounts, subjects and channels. */
function columnsOf(pairs: readonly OpenPair[]): readonly (readonly unknown[])[] {
  return [
    pairs.map(({ accountId }) => accountId),
    pairs.map(({ subjectId }) => subjectId),
    pairs.map(({ channelId }) => channelId),
  ];
}

/**
 * Queues the last notice of each pair again, with all of its attempts. Only for pairs that the transaction has locked.
 * It reads their last notices again, because a problem may have ended before it was locked.
 *
 * @returns how many it queued
 */
export async function repeatLastNotices(
  sql: Sql,
  {
    pairs,
    atMs,
    ends,
    finishedByMs,
  }: Pick<RepeatQuery, 'ends' | 'finishedByMs'> & {
    readonly pairs: readonly OpenPair[];
    readonly atMs: number;
  },
): Promise<number> {
  const rows = await sql.query(
    `with repeated as (
       update alert_deliveries d
       set state = 'waiting', attempts = 0, due_at = $4::timestamptz, finished_at = null,
         notice = d.notice || jsonb_build_object('isRepeated', d.state = 'sent', 'wasDelivered',
           d.state = 'sent' or coalesce((d.notice -> 'wasDelivered')::boolean, false))
       from unnest($1::text[], $2::text[], $3::bigint[]) as pair (account_id, subject_id, channel_id)
         cross join lateral (
           ${lastDelivery('pair.account_id', 'pair.subject_id', 'pair.channel_id')}) last
       where d.id = last.id and last.alert_type <> all($5::text[])
         and d.finished_at <= $6::timestamptz
       returning d.id
     )
     select pg_notify($7, '')::text from repeated`,
    [...columnsOf(pairs), new Date(atMs), ends, new Date(finishedByMs), NOTICES_CHANNEL],
  );
  return rows.length;
}

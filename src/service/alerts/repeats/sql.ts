import type { AlertType } from '../../../model/alerting/alert.ts';
import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/store.ts';
import { SUBSCRIBERS } from '../channels/subscribers.sql.ts';
import { NOTICES_CHANNEL } from '../delivery/sql.ts';
import { IS_STATE_OPEN, STATES_OF_CHECKS } from '../sql.ts';

/** What alerts are about that last. */
export type RepeatedKind = 'check' | 'location' | 'monitoring';

/** A check, a silent location or a problem of monitoring itself, and a channel that knows of it. */
export type OpenLane = {
  readonly accountId: string;
  /** As `check_id` of its deliveries. */
  readonly subjectId: string;
  readonly channelId: number;
};

export interface RepeatQuery {
  readonly channelTypes: readonly AlertChannelType[];
  /** The types of alerts that report the end of a problem. */
  readonly ends: readonly AlertType[];
  /** Those whose last notice was finished by then; epoch milliseconds. */
  readonly finishedByMs: number;
}

/** The last delivery of a subject to a channel, but for certificates. */
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
 * the rows to lock. A check whose state has sent nothing has no open alert: its last delivery is of an earlier problem.
 */
const OPEN: Readonly<Record<RepeatedKind, OpenRows>> = {
  check: {
    from: STATES_OF_CHECKS,
    where: `${IS_STATE_OPEN}
      and (s.body #>> '{state,told}' is not null or s.body #>> '{flapping,started}' is not null)
      and (last.alert_type not in ${FAILURES}
        or 'failing' in (s.body #>> '{state,told}', s.body #>> '{flapping,started,as}'))`,
    id: 's.check_id',
    listens: `(s.body -> 'escalatedTo' @> to_jsonb(ch.id) or exists (select from ${SUBSCRIBERS} x
      where x.account_id = s.account_id and x.check_id = s.check_id and x.channel_id = ch.id))`,
    locks: 'for no key update of c, s',
  },
  location: {
    from: 'silent_locations s',
    where: 'last.created_at >= s.since',
    id: 's.location_id',
    listens: 'true',
    locks: 'for update of s',
  },
  monitoring: {
    from: 'monitoring_problems s',
    where: 'last.created_at >= s.begun_at',
    id: 's.id',
    listens: 'true',
    locks: 'for update of s',
  },
};

interface OpenRows {
  readonly from: string;
  readonly where: string;
  readonly id: string;
  readonly listens: string;
  readonly locks: string;
}

/**
 * Locks what is open, and is to be sent again to a channel, until the transaction ends: nobody ends it meanwhile. The
 * longest due comes first. Skips what another transaction has locked.
 */
export function lockOpenLanes(
  sql: Sql,
  {
    kind,
    limit,
    channelTypes,
    ends,
    finishedByMs,
  }: RepeatQuery & { readonly kind: RepeatedKind; readonly limit: number },
): Promise<readonly OpenLane[]> {
  const { from, where, id, listens, locks } = OPEN[kind];
  return sql.query<OpenLane>(
    `select s.account_id, ${id} as subject_id, ch.id as channel_id
     from ${from} join alert_channels ch on ch.account_id = s.account_id
       cross join lateral (${lastDelivery('s.account_id', id, 'ch.id')}) last
     where ch.type = any($1::text[]) and ${where} and ${listens}
       and last.alert_type <> all($2::text[]) and last.finished_at <= $3::timestamptz
     order by last.finished_at limit $4::int
     ${locks} skip locked`,
    [channelTypes, ends, new Date(finishedByMs), limit],
  );
}

/**
 * Makes the last notice of each wait to be sent again, with all of its attempts. Only for lanes that the transaction
 * locks: it reads them again, because one may have ended before it was locked.
 *
 * @returns how many it made wait
 */
export async function repeatLastNotices(
  sql: Sql,
  {
    lanes,
    atMs,
    ends,
    finishedByMs,
  }: Pick<RepeatQuery, 'ends' | 'finishedByMs'> & {
    readonly lanes: readonly OpenLane[];
    readonly atMs: number;
  },
): Promise<number> {
  const rows = await sql.query(
    `with repeated as (
       update alert_deliveries d
       set state = 'waiting', attempts = 0, due_at = $4::timestamptz, finished_at = null,
         notice = d.notice || jsonb_build_object('isRepeated', d.state = 'sent')
       from unnest($1::text[], $2::text[], $3::bigint[]) as lane (account_id, subject_id, channel_id)
         cross join lateral (
           ${lastDelivery('lane.account_id', 'lane.subject_id', 'lane.channel_id')}) last
       where d.id = last.id and last.alert_type <> all($5::text[])
         and d.finished_at <= $6::timestamptz
       returning d.id
     )
     select pg_notify($7, '')::text from repeated`,
    [
      lanes.map(({ accountId }) => accountId),
      lanes.map(({ subjectId }) => subjectId),
      lanes.map(({ channelId }) => channelId),
      new Date(atMs),
      ends,
      new Date(finishedByMs),
      NOTICES_CHANNEL,
    ],
  );
  return rows.length;
}

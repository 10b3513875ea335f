import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import type { MissedReason } from '../../../model/result/missed-slots.ts';
import type { Sql } from '../../database/store.ts';
import { CHANNEL_SUMMARY } from '../channels/channel-summary.sql.ts';

/** The data of all accounts by which problems of monitoring itself are detected. */

export type ProblemLocation = {
  readonly accountId: string;
  readonly locationId: string;
  readonly slug: string;
  readonly name: string;
};

/** The agents of a location that polled within a day; figures are those of its live agents. */
export type LocationAgents = ProblemLocation & {
  readonly liveAgents: number;
  /** The requested versions that live agents have, each once. */
  readonly versions: readonly string[] | null;
  /** The largest difference of an agent's clock; null if none reports it. */
  readonly clockAheadMs: number | null;
  readonly clockAgentId: string | null;
  readonly spoolRecords: number | null;
  /** null if nothing waits. */
  readonly spoolOldestMs: number | null;
};

/** The versions of all live agents, each once. */
export async function listLiveVersions(
  sql: Sql,
  { atMs }: { readonly atMs: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ version: string }>(
    'select distinct version from agents where lease_until > $1::timestamptz',
    [new Date(atMs)],
  );
  return rows.map(({ version }) => version);
}

const LIVE = 'g.lease_until > $1::timestamptz';

/**
 * The locations with an agent that has one of the versions, a clock that is off by more than `clockMs`, or a record
 * that has waited for more than `waitingMs`; and those without a live agent, if one has polled within a day.
 */
export function listNotableLocations(
  sql: Sql,
  {
    atMs,
    versions,
    clockMs,
    waitingMs,
  }: {
    readonly atMs: number;
    readonly versions: readonly string[];
    readonly clockMs: number;
    readonly waitingMs: number;
  },
): Promise<readonly LocationAgents[]> {
  return sql.query<LocationAgents>(
    `select l.account_id, l.id as location_id, l.slug, l.name, g.live_agents, g.versions,
       g.clock_ahead_ms, g.clock_agent_id, g.spool_records, g.spool_oldest_ms
     from (
       select g.location_id, count(*) filter (where ${LIVE}) as live_agents,
         array_agg(distinct g.version) filter (where ${LIVE} and g.version = any($2::text[]))
           as versions,
         (array_agg(g.clock_ahead_ms order by abs(g.clock_ahead_ms) desc, g.id)
           filter (where ${LIVE} and g.clock_ahead_ms is not null))[1] as clock_ahead_ms,
         (array_agg(g.id order by abs(g.clock_ahead_ms) desc, g.id)
           filter (where ${LIVE} and g.clock_ahead_ms is not null))[1] as clock_agent_id,
         sum((g.health ->> 'spoolRecords')::bigint) filter (where ${LIVE})::bigint as spool_records,
         max((g.health ->> 'spoolOldestMs')::bigint) filter (where ${LIVE}) as spool_oldest_ms
       from agents g
       where g.last_seen_at > $1::timestamptz - interval '1 day' and g.ended_at is null
       group by g.location_id
     ) g join private_locations l on l.id = g.location_id
     where g.live_agents = 0 or g.versions is not null or abs(g.clock_ahead_ms) > $3::bigint
       or g.spool_oldest_ms > $4::bigint`,
    [new Date(atMs), versions, clockMs, waitingMs],
  );
}

export type LocationMissed = ProblemLocation & {
  /** Slots of the window that were not run. */
  readonly missed: number;
  /** Slots that its checks have in such a window. */
  readonly due: number;
  /** The reason of the longest range of missed slots. */
  readonly reason: string;
};

/** A stored range spans a day at most, and its slots are evenly spaced. */
const MISSED_IN_WINDOW = `sum(case when m.slot >= $1::timestamptz then m.count
  else 1 + floor(extract(epoch from m.last_slot - $1::timestamptz)
    / (extract(epoch from m.last_slot - m.slot) / greatest(1, m.count - 1))) end)::bigint`;

/**
 * The locations with missed slots from `atMs - windowMs` on. Ignores slots of silent locations and those of checks
 * whose previous run was still active: a check that fails with retries, or is slower than its period, misses slots even
 * in a healthy location.
 */
export function listMissedByLocation(
  sql: Sql,
  {
    atMs,
    windowMs,
    ignored,
  }: {
    readonly atMs: number;
    readonly windowMs: number;
    /** Further reasons to ignore. */
    readonly ignored: readonly MissedReason[];
  },
): Promise<readonly LocationMissed[]> {
  return sql.query<LocationMissed>(
    `select l.account_id, l.id as location_id, l.slug, l.name, m.missed, m.reason, (
         select coalesce(round(sum($2::float8 / (a.period_ms::float8 * a.stride))), 0)::bigint
         from assignments a
         where a.location_id = l.id and a.unassigned_reason is distinct from 'too_many_locations'
       ) as due
     from (
       select m.account_id, m.location, ${MISSED_IN_WINDOW} as missed,
         (array_agg(m.reason order by m.count desc, m.reason))[1] as reason
       from missed_slots m
       where m.last_slot >= $1::timestamptz
         and m.reason not in ('location_silent', 'previous_run_active')
         and m.reason <> all ($3::text[])
       group by m.account_id, m.location
     ) m join private_locations l on l.account_id = m.account_id and l.slug = m.location`,
    [new Date(atMs - windowMs), windowMs, ignored],
  );
}

export type FailingChannel = {
  readonly accountId: string;
  readonly channel: {
    readonly id: number;
    readonly type: AlertChannelType;
    readonly name: string;
  };
  /** Whether the latest finished delivery has failed. Otherwise the state of the channel is unknown. */
  readonly isFailed: boolean;
  /** The error of the last attempt. */
  readonly lastError: string | null;
};

/**
 * The channels whose latest finished delivery has failed, if it failed after `sinceMs` or the channel already has an
 * open problem; and those with an open problem and no finished delivery since: their failed delivery waits to be sent
 * again, or is past the retention.
 */
export function listFailingChannels(
  sql: Sql,
  { sinceMs }: { readonly sinceMs: number },
): Promise<readonly FailingChannel[]> {
  return sql.query<FailingChannel>(
    `with candidates as (
       select distinct account_id, channel_id from alert_deliveries
       where finished_at > $1::timestamptz and state = 'failed'
       union
       select account_id, subject_id::bigint from monitoring_problems where kind = 'CHANNEL_FAILING'
     )
     select c.account_id, ${CHANNEL_SUMMARY} as channel, d.last_error,
       d.state is not distinct from 'failed' as is_failed
     from candidates f
       join alert_channels c on c.account_id = f.account_id and c.id = f.channel_id
       left join lateral (
         select d.state, d.last_error, d.finished_at from alert_deliveries d
         where d.account_id = f.account_id and d.channel_id = f.channel_id
           and d.finished_at is not null
         order by d.finished_at desc, d.seq desc limit 1
       ) d on true
     where d.state = 'failed' or exists (select from monitoring_problems p
       where p.account_id = f.account_id and p.kind = 'CHANNEL_FAILING'
         and p.subject_id = f.channel_id::text and p.begun_at is not null
         and coalesce(d.finished_at <= p.since, true))`,
    [new Date(sinceMs)],
  );
}

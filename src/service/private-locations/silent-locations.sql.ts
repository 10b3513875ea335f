import type { SilentLocation } from '../alerts/location-alerts.ts';
import type { Sql } from '../database/store.ts';

/** Locations without a polling agent: what the service writes while they are silent. */

/** The assignments of location `l` with slots. */
const ASSIGNED = `from assignments a
  where a.location_id = l.id and a.unassigned_reason is distinct from 'too_many_locations'`;

/**
 * Stores the locations that have become silent: checks are assigned to them, and none of their agents has a
 * lease or has polled since `quietSinceMs`. This must also be true by the clock of the database, which
 * determines leases. Ignores locations that never had an agent. If two replicas call it, one stores a location.
 *
 * @param oldestMs earlier slots are not recorded as missed
 * @returns those that it stored, at most `limit`
 */
export function insertSilentLocations(
  sql: Sql,
  {
    atMs,
    quietSinceMs,
    oldestMs,
    limit,
  }: {
    readonly atMs: number;
    readonly quietSinceMs: number;
    readonly oldestMs: number;
    readonly limit: number;
  },
): Promise<readonly SilentLocation[]> {
  return sql.query<SilentLocation>(
    `with added as (
       insert into silent_locations (location_id, account_id, since, covered_until)
       select l.id, l.account_id, g.since, greatest(g.since, $3::timestamptz)
       from (select location_id, max(last_seen_at) as since from agents group by location_id
             having max(last_seen_at) <= least($2::timestamptz, now() - ($1::timestamptz - $2::timestamptz))
               and coalesce(max(lease_until) <= least($1::timestamptz, now()), true)) g
         join private_locations l on l.id = g.location_id
       where exists (select ${ASSIGNED})
         and not exists (select from silent_locations s where s.location_id = l.id)
       order by l.id limit $4::int
       on conflict (location_id) do nothing
       returning location_id, account_id, since
     )
     select added.account_id, added.location_id, l.slug, l.name, added.since,
       (select count(*) ${ASSIGNED}) as checks
     from added join private_locations l on l.id = added.location_id
     order by added.location_id`,
    [new Date(atMs), new Date(quietSinceMs), new Date(oldestMs), limit],
  );
}

/**
 * Deletes the locations that are no longer silent because an agent has a lease again, or no check is assigned
 * to them. Skips those that another transaction has locked.
 *
 * @returns those that it deleted, at most `limit`
 */
export function deleteEndedSilences(
  sql: Sql,
  { atMs, limit }: { readonly atMs: number; readonly limit: number },
): Promise<readonly SilentLocation[]> {
  return sql.query<SilentLocation>(
    `with ended as materialized (
       select s.location_id from silent_locations s join private_locations l on l.id = s.location_id
       where exists (select from agents g
               where g.location_id = l.id and g.lease_until > $1::timestamptz)
         or not exists (select ${ASSIGNED})
       order by s.location_id limit $2::int
       for update of s skip locked
     ), gone as (
       delete from silent_locations s using ended where s.location_id = ended.location_id
       returning s.location_id, s.account_id, s.since
     )
     select gone.account_id, gone.location_id, l.slug, l.name, gone.since,
       (select count(*) ${ASSIGNED}) as checks
     from gone join private_locations l on l.id = gone.location_id
     order by gone.location_id`,
    [new Date(atMs), limit],
  );
}

/**
 * Locks silent locations with pending notices to channels, in order, until the transaction ends. Skips those
 * that another transaction has locked.
 */
export function lockPendingNotices(
  sql: Sql,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<readonly SilentLocation[]> {
  return sql.query<SilentLocation>(
    `select s.account_id, s.location_id, l.slug, l.name, s.since, (select count(*) ${ASSIGNED}) as checks
     from silent_locations s join private_locations l on l.id = s.location_id
     where s.notices_pending and s.location_id > $1
     order by s.location_id limit $2::int
     for update of s skip locked`,
    [afterId, limit],
  );
}

/** Only for a location that this transaction inserted or locked. */
export async function putNoticesPending(
  sql: Sql,
  { locationId, isPending }: { readonly locationId: string; readonly isPending: boolean },
): Promise<void> {
  await sql.query(
    'update silent_locations set notices_pending = $2::boolean where location_id = $1',
    [locationId, isPending],
  );
}

/**
 * The time since which no private location of check `c` has a polling agent: the last poll of any agent. null
 * while an agent polls, and if the check has no private location. Ignores locations that never had an agent.
 */
export const CHECK_SILENT_SINCE = `case when exists (
    select from silent_locations q where q.account_id = c.account_id) then (
    select max(q.since) from private_locations l
      join assignments a on a.location_id = l.id and a.check_id = c.id
      left join silent_locations q on q.location_id = l.id
    where l.account_id = c.account_id
      and a.unassigned_reason is distinct from 'too_many_locations'
    having bool_and(q.location_id is not null
      or not exists (select from agents g where g.location_id = l.id)))
  end`;

/** How many locations are silent, of all accounts. */
export async function countSilentLocations(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ locations: number }>(
    'select count(*) as locations from silent_locations',
  );
  return row?.locations ?? 0;
}

/** Up to when the slots of a silent location are recorded as missed. Epoch milliseconds. */
export type SilenceProgress = {
  readonly accountId: string;
  readonly locationId: string;
  readonly slug: string;
  readonly coveredUntilMs: number;
  /** The end of the window that is being recorded; null between two windows. */
  readonly windowUntilMs: number | null;
  /** The last check whose slots of the window are recorded. */
  readonly afterCheckId: string;
};

/**
 * Locks, until the transaction ends, the location that has waited longest for its slots up to `dueMs` to be
 * recorded. Skips those that another transaction has locked.
 */
export async function lockDueSilence(
  sql: Sql,
  { dueMs, except }: { readonly dueMs: number; readonly except: readonly string[] },
): Promise<SilenceProgress | null> {
  const [row] = await sql.query<SilenceProgress>(
    `select s.account_id, s.location_id, l.slug,
       (extract(epoch from s.covered_until) * 1000)::bigint as covered_until_ms,
       (extract(epoch from s.window_until) * 1000)::bigint as window_until_ms,
       s.after_check as after_check_id
     from silent_locations s join private_locations l on l.id = s.location_id
     where (s.window_until is not null or s.covered_until <= $1::timestamptz)
       and s.location_id <> all($2::text[])
     order by s.handled_at limit 1
     for update of s skip locked`,
    [new Date(dueMs), except],
  );
  return row ?? null;
}

/** Stores the progress of a location that `lockDueSilence` has locked. */
export async function putSilenceProgress(
  sql: Sql,
  {
    locationId,
    coveredUntilMs,
    windowUntilMs,
    afterCheckId,
  }: Omit<SilenceProgress, 'accountId' | 'slug'>,
): Promise<void> {
  await sql.query(
    `update silent_locations
     set covered_until = $2::timestamptz, window_until = $3::timestamptz, after_check = $4,
       handled_at = clock_timestamp()
     where location_id = $1`,
    [
      locationId,
      new Date(coveredUntilMs),
      windowUntilMs === null ? null : new Date(windowUntilMs),
      afterCheckId,
    ],
  );
}

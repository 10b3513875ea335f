import type { Sql } from '../database/store.ts';
import { IS_HELD } from './claims.sql.ts';

/** A run whose time is over and that has no FINAL. */
export type OverdueRun = {
  readonly id: string;
  readonly accountId: string;
  readonly checkId: string;
  readonly slotMs: number;
  /** Whether it is a retry that can still return to its own location. */
  readonly returns: boolean;
  /** The slug of the location whose slot it is; null for an unscheduled run. */
  readonly slotOf: string | null;
};

/** When a run becomes overdue. */
export interface ExpiryLimits {
  /** After `not_after`, while its agent is live and has not closed it: the duration of a run with retries. */
  readonly runningMs: number;
  /** After its agent closed it: the duration of an upload from the agent's spool. */
  readonly uploadMs: number;
}

/** An attempt with a later attempt is never overdue: it ends together with the later one. */
const IS_OVERDUE = `r.state in ('waiting', 'assigned') and r.not_after < now()
  and not exists (
    select from one_off_runs later
    where later.account_id = r.account_id and later.check_id = r.check_id
      and later.sequence_id = r.sequence_id and later.retries_made > r.retries_made
      and later.state in ('waiting', 'assigned'))
  and case
    when r.closed_at is not null
      then r.closed_at < now() - $2::double precision * interval '1 millisecond'
    when ${IS_HELD} then r.not_after < now() - $1::double precision * interval '1 millisecond'
    else true end`;

/** The runs that are to return or expire, oldest first. */
export function listOverdueRuns(
  sql: Sql,
  { runningMs, uploadMs }: ExpiryLimits,
  limit: number,
): Promise<readonly Pick<OverdueRun, 'id' | 'accountId' | 'checkId'>[]> {
  return sql.query<Pick<OverdueRun, 'id' | 'accountId' | 'checkId'>>(
    `select r.id, r.account_id, r.check_id from one_off_runs r where ${IS_OVERDUE}
     order by r.not_after, r.id limit $3::bigint`,
    [runningMs, uploadMs, limit],
  );
}

/** Locks the runs among these that are still overdue, except those that another transaction has locked. */
export function lockOverdueRuns(
  sql: Sql,
  { runningMs, uploadMs }: ExpiryLimits,
  ids: readonly string[],
): Promise<readonly OverdueRun[]> {
  return sql.query<OverdueRun>(
    `select r.id, r.account_id, r.check_id,
       (extract(epoch from r.slot) * 1000)::bigint as slot_ms,
       coalesce(r.reason = 'retry' and r.origin_location_id <> r.location_id, false) as returns,
       (select l.slug from private_locations l where l.id = r.origin_location_id
         and not exists (
           select from one_off_runs first
           where first.account_id = r.account_id and first.check_id = r.check_id
             and first.sequence_id = r.sequence_id and first.reason = 'requested')) as slot_of
     from one_off_runs r
     where r.id = any($3::text[]) and ${IS_OVERDUE}
     for update of r skip locked`,
    [runningMs, uploadMs, ids],
  );
}

/** Returns retries to the locations where their runs began, and wakes the polls there. */
export async function returnRuns(
  sql: Sql,
  { ids, windowMs }: { readonly ids: readonly string[]; readonly windowMs: number },
): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `with returned as (
       update one_off_runs set location_id = origin_location_id,
         taken_from_location_id = location_id, state = 'waiting',
         agent_id = null, agent_epoch = null, closed_at = null,
         not_after = now() + $2::double precision * interval '1 millisecond'
       where id = any($1::text[]) and state in ('waiting', 'assigned')
       returning location_id
     )
     select pg_notify('vedette_assignments', location_id)::text from returned group by location_id`,
    [ids, windowMs],
  );
}

/** Expires runs, including earlier attempts. */
export async function expireRuns(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `update one_off_runs r set state = 'expired'
     from one_off_runs last
     where last.id = any($1::text[]) and last.account_id = r.account_id
       and last.check_id = r.check_id and last.sequence_id = r.sequence_id
       and r.state in ('waiting', 'assigned')`,
    [ids],
  );
}

/** @returns how many; fewer than `limit` where none are left */
export async function deleteOldRuns(
  sql: Sql,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from one_off_runs where id in (
       select id from one_off_runs
       where created_at < now() - $1::double precision * interval '1 millisecond'
         and state in ('done', 'expired')
       order by created_at limit $2::bigint for update skip locked)
     returning id`,
    [olderThanMs, limit],
  );
  return rows.length;
}

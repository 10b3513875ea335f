import { ASSIGNMENTS_CHANNEL } from '../agents/shared.sql.ts';
import type { Sql } from '../database/store.ts';

export interface ExpiryReasons {
  /** No agent took it in time. */
  readonly notStarted: ExpiryReason;
  /** Its agent lost its lease. */
  readonly agentLost: ExpiryReason;
  /** Its agent is live and did not report its end in time. */
  readonly noResult: ExpiryReason;
}

interface ExpiryReason {
  readonly reason: string;
  readonly message: string;
}

/**
 * Expires trials that no agent took or whose agent reported no end, deletes their checks with the secrets,
 * and wakes the requests that wait for them.
 *
 * @param runningMs how long after `not_after` a live agent may report
 * @returns how many
 */
export async function expireTrials(
  sql: Sql,
  {
    reasons: { notStarted, agentLost, noResult },
    runningMs,
    limit,
  }: { readonly reasons: ExpiryReasons; readonly runningMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `with judged as (
       select t.id, t.state, case
           when t.state = 'waiting' then case when t.not_after < now() then $1::text end
           when not exists (select from agents a where a.location_id = t.location_id
             and a.id = t.agent_id and a.epoch = t.agent_epoch and a.lease_until > now()) then $3::text
           when t.not_after < now() - $7::double precision * interval '1 millisecond' then $5::text
         end as reason
       from check_trials t where t.state in ('waiting', 'running')
     ), overdue as (
       select t.id, judged.reason from check_trials t join judged on judged.id = t.id
       where judged.reason is not null and t.state = judged.state
       order by t.created_at limit $8::bigint for update of t skip locked
     ), expired as (
       update check_trials t set state = 'expired', reason = overdue.reason,
         message = case overdue.reason when $1 then $2::text when $3 then $4::text else $6::text end,
         body = null, sealed_variables = null, ended_at = now()
       from overdue where t.id = overdue.id
       returning t.location_id
     )
     select pg_notify($9, location_id)::text from expired`,
    [
      notStarted.reason,
      notStarted.message,
      agentLost.reason,
      agentLost.message,
      noResult.reason,
      noResult.message,
      runningMs,
      limit,
      ASSIGNMENTS_CHANNEL,
    ],
  );
  return rows.length;
}

/** @returns how many; fewer than `limit` where none are left */
export async function deleteOldTrials(
  sql: Sql,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from check_trials where id in (
       select id from check_trials
       where created_at < now() - $1::double precision * interval '1 millisecond'
         and state not in ('waiting', 'running')
       order by created_at limit $2::bigint for update skip locked)
     returning id`,
    [olderThanMs, limit],
  );
  return rows.length;
}

import type { AnalysisProvider } from '../../model/result/root-cause-analysis.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { ClaimedAnalysis, MadeAnalysis } from './sql.ts';

type ClaimedRow = Omit<ClaimedAnalysis, 'slotMs'> & { readonly slot: Date };

/**
 * Claims pending analyses without a lease: requested ones first, then the oldest. The claim is
 * exclusive until the lease ends.
 */
export async function claimPending(
  sql: Sql,
  {
    askedProvider,
    leaseMs,
    limit,
  }: { readonly askedProvider: AnalysisProvider; readonly leaseMs: number; readonly limit: number },
): Promise<readonly ClaimedAnalysis[]> {
  const rows = await sql.query<ClaimedRow>(
    `with free as materialized (
       select account_id, id from root_cause_analyses
       where state = 'PENDING' and asked_provider = $1
         and (lease_until is null or lease_until < now())
       order by origin desc, created_at
       limit $3::bigint
       for update skip locked
     )
     update root_cause_analyses a
     set claim = a.claim + 1, lease_until = now() + $2::bigint * interval '1 millisecond'
     from free where a.account_id = free.account_id and a.id = free.id
     returning a.account_id, a.id, a.check_id, a.check_type, a.error_group_id, a.result_id, a.slot,
       a.origin, a.asked_provider, a.claim`,
    [askedProvider, leaseMs, limit],
  );
  return rows.map(({ slot, ...row }) => ({ ...row, slotMs: slot.getTime() }));
}

type Claim = Pick<ClaimedAnalysis, 'accountId' | 'id' | 'claim'>;

const IS_MINE = `account_id = $1 and id = $2 and claim = $3::integer and state = 'PENDING'`;

/** @returns false if another claim has it meanwhile, or it is gone */
export async function completeAnalysis(
  sql: Sql,
  { accountId, id, claim }: Claim,
  { provider, model, durationMs, analysis }: MadeAnalysis,
): Promise<boolean> {
  const rows = await sql.query(
    `update root_cause_analyses set state = 'COMPLETED', list_position = next_list_position(), lease_until = null, provider = $4,
       model = $5, duration_ms = $6::float8, analysis = $7::jsonb
     where ${IS_MINE} returning 1`,
    [accountId, id, claim, provider, model, durationMs, jsonText(analysis)],
  );
  return rows.length > 0;
}

/** Deletes it: the same failure has another analysis. */
export async function dropPending(sql: Sql, { accountId, id, claim }: Claim): Promise<void> {
  await sql.query(`delete from root_cause_analyses where ${IS_MINE}`, [accountId, id, claim]);
}

/** Lets it be claimed again, `afterMs` from now. */
export async function releasePending(
  sql: Sql,
  { accountId, id, claim }: Claim,
  afterMs: number,
): Promise<void> {
  await sql.query(
    `update root_cause_analyses set lease_until = now() + $4::bigint * interval '1 millisecond'
     where ${IS_MINE}`,
    [accountId, id, claim, afterMs],
  );
}

/**
 * Counts one analysis by the model for the account.
 *
 * @param day in UTC, `2026-01-31`
 * @returns false if the limit of the day is reached
 */
export async function useModelOnce(
  sql: Sql,
  {
    accountId,
    day,
    limit,
  }: { readonly accountId: string; readonly day: string; readonly limit: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into root_cause_model_days as days (account_id, day, used)
     select $1, $2::date, 1 where $3::bigint > 0
     on conflict (account_id, day) do update set used = days.used + 1
       where days.used < $3::bigint
     returning 1`,
    [accountId, day, limit],
  );
  return rows.length > 0;
}

/** @param day in UTC: earlier ones are deleted */
export async function deleteModelDaysBefore(sql: Sql, day: string): Promise<void> {
  await sql.query('delete from root_cause_model_days where day < $1::date', [day]);
}

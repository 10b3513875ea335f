import type { RunResult } from '../../model/result/run-result.ts';
import { groupBy } from '../../runtime/group-by.ts';
import { locationsOfGroup } from '../check-runs/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { RUN_RESULT } from '../results/shared.sql.ts';
import type { GroupCheck, PlannedMember } from './plan.ts';
import type { GroupVerdict, Member, SkipReason } from './progress.ts';

/** Notified when a run of a group has ended. */
export const GROUP_RUNS_CHANNEL = 'vedette_group_runs';

/** Who requested it. */
export interface RequestedBy {
  readonly kind: 'key' | 'user';
  readonly id: string;
}

export type StoredGroupRun = {
  readonly id: string;
  readonly groupId: number;
  readonly groupName: string;
  /** The slug of the only location; null for all. */
  readonly location: string | null;
  readonly concurrency: number;
  readonly requestedByKind: RequestedBy['kind'];
  readonly requestedById: string;
  readonly state: 'running' | 'ended' | 'cancelled';
  readonly verdict: GroupVerdict | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
};

/** A check of a group run, in one location. */
export type StoredMember = Member & {
  /** The position in the list, from 0. */
  readonly n: number;
  readonly checkId: string;
  readonly name: string;
  readonly locationId: string | null;
  readonly reason: SkipReason | null;
  readonly runId: string | null;
  /** The state of its run while the member is `started`. */
  readonly runState: string | null;
  readonly verdict: RunResult | null;
  readonly resultId: string | null;
};

/** At most `limit` checks of a group, with their private locations. */
export async function listGroupChecks(
  sql: Sql,
  key: AccountKey<number>,
  limit: number,
): Promise<readonly GroupCheck[]> {
  const { accountId, id } = key;
  const checks = await sql.query<Omit<GroupCheck, 'locations'>>(
    `select id, name, check_type, activated,
       case when jsonb_typeof(body -> 'groupOrder') = 'number'
         then (body -> 'groupOrder')::double precision end as group_order
     from checks where account_id = $1 and group_id = $2::bigint order by id limit $3::bigint`,
    [accountId, id, limit],
  );
  const locations = groupBy(await locationsOfGroup(sql, key), ({ checkId }) => checkId);
  return checks.map((check) => ({ ...check, locations: locations.get(check.id) ?? [] }));
}

export interface NewGroupRun extends AccountKey {
  readonly groupId: number;
  readonly groupName: string;
  readonly location: string | null;
  readonly concurrency: number;
  readonly requestedBy: RequestedBy;
  readonly members: readonly PlannedMember[];
}

export async function insertGroupRun(sql: Sql, run: NewGroupRun): Promise<void> {
  await sql.query(
    `insert into check_group_runs (id, account_id, group_id, group_name, location, concurrency,
       requested_by_kind, requested_by_id)
     values ($1, $2, $3::bigint, $4, $5, $6::int, $7, $8)`,
    [
      run.id,
      run.accountId,
      run.groupId,
      run.groupName,
      run.location,
      run.concurrency,
      run.requestedBy.kind,
      run.requestedBy.id,
    ],
  );
  const members = run.members.map(({ location, ...member }, n) => ({
    ...member,
    n,
    locationId: location?.id ?? null,
    location: location?.slug ?? null,
  }));
  await sql.query(
    `insert into check_group_run_checks (group_run_id, account_id, n, check_id, name, group_order,
       location_id, location, state, reason)
     select $1, $2, m.n, m."checkId", m.name, m."groupOrder", m."locationId", m.location,
       case when m.reason is null then 'pending' else 'skipped' end, m.reason
     from jsonb_to_recordset($3::jsonb) as m (n int, "checkId" text, name text,
       "groupOrder" double precision, "locationId" text, location text, reason text)`,
    [run.id, run.accountId, jsonText(members)],
  );
}

/** How many group runs of an account have not ended. */
export async function countOpenGroupRuns(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ open: number }>(
    `select count(*) as open from check_group_runs where account_id = $1 and state = 'running'`,
    [accountId],
  );
  return row?.open ?? 0;
}

export async function findGroupRun(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredGroupRun | null> {
  const [run] = await sql.query<StoredGroupRun>(
    `select id, group_id, group_name, location, concurrency, requested_by_kind, requested_by_id,
       state, verdict, created_at, ended_at
     from check_group_runs where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return run ?? null;
}

/** Lists the members in the order of the plan. */
export function listMembers(sql: Sql, groupRunId: string): Promise<readonly StoredMember[]> {
  return sql.query<StoredMember>(
    `select m.n, m.check_id, m.name, m.group_order, m.location_id, m.location, m.state, m.reason,
       m.run_id, r.state as run_state, m.verdict, m.result_id
     from check_group_run_checks m
     left join one_off_runs r on r.id = m.run_id and m.state = 'started'
     where m.group_run_id = $1 order by m.n`,
    [groupRunId],
  );
}

/**
 * Lists the open group runs, oldest first, in which a run has ended, or in which a location has fewer active runs
 * than `nextMembers` allows because it was full.
 */
export async function listDueGroupRuns(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `select g.id from check_group_runs g where g.state = 'running' and (
       exists (
         select from check_group_run_checks m left join one_off_runs r on r.id = m.run_id
         where m.group_run_id = g.id and m.state = 'started'
           and (r.id is null or r.state not in ('waiting', 'assigned')))
       or exists (
         select from check_group_run_checks m
         where m.group_run_id = g.id and m.state in ('pending', 'started') group by m.location
         having count(*) filter (where m.state = 'started') < g.concurrency
           and min(coalesce(m.group_order, 'infinity')) filter (where m.state = 'pending')
             = min(coalesce(m.group_order, 'infinity')))
       or not exists (
         select from check_group_run_checks m
         where m.group_run_id = g.id and m.state in ('pending', 'started')))
     order by g.created_at, g.id limit $1::bigint`,
    [limit],
  );
  return rows.map(({ id }) => id);
}

export type LockedGroupRun = Pick<StoredGroupRun, 'id' | 'concurrency'> & {
  readonly accountId: string;
};

/** Locks a group run that has not ended; null if another transaction is advancing it. */
export async function lockOpenGroupRun(sql: Sql, id: string): Promise<LockedGroupRun | null> {
  const [run] = await sql.query<LockedGroupRun>(
    `select id, account_id, concurrency from check_group_runs
     where id = $1 and state = 'running' for update skip locked`,
    [id],
  );
  return run ?? null;
}

/**
 * Records the outcome of the started runs of a locked group run. A run that no longer exists was deleted with
 * its location.
 */
export async function settleMembers(sql: Sql, groupRunId: string): Promise<void> {
  await sql.query(
    `update check_group_run_checks m set
       state = case when ended.is_cancelled then 'cancelled'
         when ended.state = 'done' then 'done' else 'expired' end,
       verdict = ended.verdict, result_id = ended.result_id
     from (
       select own.n, r.state, r.cancelled_at is not null as is_cancelled, f.verdict, f.id as result_id
       from check_group_run_checks own
       left join one_off_runs r on r.id = own.run_id
       left join lateral (
         select id, ${RUN_RESULT} as verdict from check_results c
         where c.account_id = r.account_id and c.check_id = r.check_id
           and c.sequence_id = r.sequence_id and c.slot = r.slot and c.result_type = 'FINAL') f on true
       where own.group_run_id = $1 and own.state = 'started'
         and (r.id is null or r.state not in ('waiting', 'assigned'))) ended
     where m.group_run_id = $1 and m.n = ended.n`,
    [groupRunId],
  );
}

/**
 * Locks a group run, whether it has ended or not. Waits for a transaction that is advancing it.
 *
 * @returns its state; null without it
 */
export async function lockGroupRun(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredGroupRun['state'] | null> {
  const [run] = await sql.query<Pick<StoredGroupRun, 'state'>>(
    'select state from check_group_runs where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return run?.state ?? null;
}

/** Cancels the members of a locked group run that were not started. */
export async function cancelPendingMembers(sql: Sql, groupRunId: string): Promise<void> {
  await sql.query(
    `update check_group_run_checks set state = 'cancelled'
     where group_run_id = $1 and state = 'pending'`,
    [groupRunId],
  );
}

export interface MemberChange {
  readonly n: number;
  /** The id of its run; null if it is skipped. */
  readonly runId: string | null;
  readonly reason: SkipReason | null;
}

/** Starts or skips members of a locked group run. */
export async function changeMembers(
  sql: Sql,
  groupRunId: string,
  changes: readonly MemberChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await sql.query(
    `update check_group_run_checks m set run_id = c."runId", reason = c.reason,
       state = case when c.reason is null then 'started' else 'skipped' end
     from jsonb_to_recordset($2::jsonb) as c (n int, "runId" text, reason text)
     where m.group_run_id = $1 and m.n = c.n`,
    [groupRunId, jsonText(changes)],
  );
}

export async function endGroupRun(
  sql: Sql,
  {
    id,
    state,
    verdict,
  }: {
    readonly id: string;
    readonly state: 'ended' | 'cancelled';
    readonly verdict: GroupVerdict;
  },
): Promise<void> {
  await sql.query(
    `update check_group_runs set state = $2, verdict = $3, ended_at = now()
     where id = $1 and state = 'running'`,
    [id, state, verdict],
  );
}

/** @returns how many; fewer than `limit` where none are left */
export async function deleteOldGroupRuns(
  sql: Sql,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from check_group_runs where id in (
       select id from check_group_runs
       where created_at < now() - $1::double precision * interval '1 millisecond'
         and state <> 'running'
       order by created_at limit $2::bigint for update skip locked)
     returning id`,
    [olderThanMs, limit],
  );
  return rows.length;
}

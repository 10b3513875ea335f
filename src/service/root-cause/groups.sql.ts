import type { Sql } from '../database/store.ts';

/** A new failure. */
export interface SeenFailure {
  readonly errorGroupId: string;
  /** Epoch milliseconds: when its run began. */
  readonly startedMs: number;
}

/**
 * Finds the failures whose group needs an analysis: the group has no automatic one yet, or was archived and
 * recurs with this failure. Call it before the groups record the failures.
 *
 * @returns indices of the list
 */
export async function groupsToAnalyse(
  sql: Sql,
  { accountId, seen }: { readonly accountId: string; readonly seen: readonly SeenFailure[] },
): Promise<readonly number[]> {
  // `lateral` with a limit forces index look-ups, regardless of the planner's statistics.
  const rows = await sql.query<{ number: number }>(
    `select (given.number - 1)::int as number
     from unnest($2::text[], $3::timestamptz[]) with ordinality as given (id, started_at, number)
       left join lateral (select g.archive, g.archived_at from error_groups g
         where g.account_id = $1 and g.id = given.id limit 1) as known on true
       left join lateral (select 1 as one from root_cause_analyses a
         where a.account_id = $1 and a.error_group_id = given.id and a.origin = 'automatic'
         limit 1) as begun on true
     where known.archive is distinct from 'for-ever'
       and (begun.one is null
         or (known.archive = 'until-next-event' and given.started_at > known.archived_at))
     order by given.number`,
    [
      accountId,
      seen.map(({ errorGroupId }) => errorGroupId),
      seen.map(({ startedMs }) => new Date(startedMs)),
    ],
  );
  return rows.map(({ number }) => number);
}

/** An analysis in a list of error groups. */
export type StoredAnalysisSummary = {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly classification: string;
  readonly rootCause: string;
  readonly createdAt: Date;
};

/** The newest completed ones of each group, newest first. */
export async function summariesOfGroups(
  sql: Sql,
  {
    accountId,
    groupIds,
    limitEach,
  }: {
    readonly accountId: string;
    readonly groupIds: readonly string[];
    readonly limitEach: number;
  },
): Promise<readonly (StoredAnalysisSummary & { readonly groupId: string })[]> {
  if (groupIds.length === 0) return [];
  return sql.query<StoredAnalysisSummary & { readonly groupId: string }>(
    `select given.group_id, a.*
     from unnest($2::text[]) as given (group_id)
       cross join lateral (
         select id, provider, model, analysis ->> 'classification' as classification,
           analysis ->> 'rootCause' as root_cause, created_at
         from root_cause_analyses
         where account_id = $1 and error_group_id = given.group_id and state = 'COMPLETED'
         order by created_at desc, id limit $3::bigint) as a
     order by given.group_id, a.created_at desc, a.id`,
    [accountId, groupIds, limitEach],
  );
}

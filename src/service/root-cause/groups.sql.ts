import type { Sql } from '../database/port.ts';

/** A failure that was seen just now. */
export interface SeenFailure {
  readonly errorGroupId: string;
  /** Epoch milliseconds: when its run began. */
  readonly startedMs: number;
}

/**
 * Which of the failures are of a group that is to be analysed: none was begun yet by itself, or the
 * group was archived and comes again by this failure. To be asked before the groups are told of the
 * failures.
 *
 * @returns their numbers in the list
 */
export async function groupsToAnalyse(
  sql: Sql,
  { accountId, seen }: { readonly accountId: string; readonly seen: readonly SeenFailure[] },
): Promise<readonly number[]> {
  // The lateral parts with a limit are looked up for each by the index, whatever the planner
  // believes of the tables.
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

/** What a list of error groups tells of an analysis. */
export interface AnalysisSummary {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly classification: string;
  readonly rootCause: string;
  readonly createdAt: Date;
}

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
): Promise<readonly (AnalysisSummary & { readonly groupId: string })[]> {
  if (groupIds.length === 0) return [];
  const rows = await sql.query<{
    groupId: string;
    id: string;
    provider: string;
    model: string;
    classification: string;
    rootCause: string;
    createdAt: Date;
  }>(
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
  return rows.map((row) => ({
    groupId: row.groupId,
    id: row.id,
    provider: row.provider,
    model: row.model,
    classification: row.classification,
    rootCause: row.rootCause,
    createdAt: row.createdAt,
  }));
}

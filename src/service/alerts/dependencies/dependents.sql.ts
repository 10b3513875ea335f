import type { Sql } from '../../database/store.ts';

/** The activated checks that depend directly on a check. */
export type DependentChecks = {
  readonly total: number;
  /** How many of them fail. */
  readonly failing: number;
  /** The first of those that fail. */
  readonly names: readonly string[];
};

/** @param limit of the names */
export async function readDirectDependents(
  sql: Sql,
  {
    accountId,
    checkId,
    limit,
  }: { readonly accountId: string; readonly checkId: string; readonly limit: number },
): Promise<DependentChecks> {
  const [row] = await sql.query<DependentChecks>(
    // The first condition is that of the index.
    `with dependents as (
       select c.name, s.condition = 'failing' as is_failing
       from checks c
         left join check_groups g on g.id = c.group_id and g.account_id = c.account_id
         left join check_alert_states s on s.account_id = c.account_id and s.check_id = c.id
       where c.body -> 'dependsOn' <> '[]'::jsonb and c.body -> 'dependsOn' ? $2
         and c.account_id = $1 and c.activated and coalesce(g.activated, true)
     )
     select count(*)::int as total, (count(*) filter (where is_failing))::int as failing,
       coalesce((select jsonb_agg(name) from (
         select name from dependents where is_failing order by name limit $3::bigint) as first),
         '[]'::jsonb) as names
     from dependents`,
    [accountId, checkId, limit],
  );
  return row ?? { total: 0, failing: 0, names: [] };
}

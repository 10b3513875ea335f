import type { StoredCheckType } from '../../../model/enums.ts';
import type { Sql } from '../../database/store.ts';

/** Locks the dependencies between the checks of the account until the transaction ends. */
export async function lockDependencies(sql: Sql, accountId: string): Promise<void> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 56))', [accountId]);
}

/** The types of those of the checks that exist, by id. */
export async function typesOfChecks(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, StoredCheckType>> {
  const rows = await sql.query<{ id: string; checkType: StoredCheckType }>(
    'select id, check_type from checks where account_id = $1 and id = any($2::text[])',
    [accountId, ids],
  );
  return new Map(rows.map(({ id, checkType }) => [id, checkType]));
}

/** Returns the checks among these that depend on `id`, directly or through others. */
export async function findTransitiveDependents(
  sql: Sql,
  {
    accountId,
    id,
    among,
  }: { readonly accountId: string; readonly id: string; readonly among: readonly string[] },
): Promise<readonly string[]> {
  const rows = await sql.query<{ first: string }>(
    // `union` keeps each pair once, so the recursion also ends if an old cycle is stored.
    `with recursive above (first, id) as (
       select given.id, given.id from unnest($3::text[]) as given (id)
       union
       select above.first, parent.id
       from above join checks c on c.account_id = $1 and c.id = above.id
         cross join lateral jsonb_array_elements_text(coalesce(c.body -> 'dependsOn', '[]'::jsonb))
           as parent (id)
     )
     select distinct first from above where id = $2`,
    [accountId, id, among],
  );
  return rows.map(({ first }) => first);
}

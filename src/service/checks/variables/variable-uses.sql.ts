import { MAX_KEY_CHARS } from '../../../model/check/variable.ts';
import type { Sql } from '../../database/store.ts';

export type VariableUse = {
  readonly key: string;
  /** The number of checks that use the variable. */
  readonly checkCount: number;
  /** The first of them by name. */
  readonly checks: readonly { readonly id: string; readonly name: string }[];
  /** Whether the account has it. */
  readonly isDefined: boolean;
};

/** A placeholder (src/model/check/template.ts) in JSON, where a tab is `\t`. */
const PLACEHOLDER = String.raw`\{\{(?: |\\t)*([A-Za-z_][A-Za-z0-9_]*)(?: |\\t)*\}\}`;

/**
 * The names in placeholders of requests, without those that a check defines itself. Those without a variable
 * of the account come first, then by key.
 */
export async function findVariableUses(
  sql: Sql,
  {
    accountId,
    key,
    maxKeys,
    maxChecks,
  }: {
    readonly accountId: string;
    /** null: all. */
    readonly key: string | null;
    readonly maxKeys: number;
    /** Named for each variable. */
    readonly maxChecks: number;
  },
): Promise<{ readonly uses: readonly VariableUse[]; readonly total: number }> {
  const rows = await sql.query<VariableUse & { readonly total: number }>(
    `with used as (
       select distinct c.id, c.name, names.key
       from checks c
       -- Assertions have no placeholders. Without the offset the text would be made twice.
       cross join lateral (select ((c.body -> 'request') - 'assertions')::text as text offset 0) request
       cross join lateral (select m[1] as key from regexp_matches(request.text, $2, 'g') m) names
       where c.account_id = $1 and c.check_type in ('URL', 'API', 'TCP')
         and strpos(request.text, '{{') > 0 and length(names.key) <= ${MAX_KEY_CHARS}
         and ($3::text is null or names.key = $3)
         and not coalesce(c.body -> 'variables', '[]') @> jsonb_build_array(jsonb_build_object('key', names.key))
     ), counted as (
       select key, count(*) as check_count,
         to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name) order by name, id))[1:$4::int]) as checks
       from used group by key
     )
     select key, check_count, checks, is_defined, count(*) over () as total
     from (select counted.*, exists (select 1 from variables v
         where v.account_id = $1 and v.key = counted.key) as is_defined from counted) as named
     order by is_defined, key collate "C" limit $5::bigint`,
    [accountId, PLACEHOLDER, key, maxChecks, maxKeys],
  );
  const uses = rows.map(({ total: _, ...use }) => use);
  return { uses, total: rows[0]?.total ?? 0 };
}

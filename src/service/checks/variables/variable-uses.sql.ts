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

type Totals = {
  /** The number of names; null if there is none. */
  readonly total: number | null;
  readonly read: number;
};

/** A placeholder (src/model/check/template.ts) in JSON, where a tab is `\t`. */
const PLACEHOLDER = String.raw`\{\{(?: |\\t)*([A-Za-z_][A-Za-z0-9_]*)(?: |\\t)*\}\}`;

/**
 * Finds the names in placeholders of requests, without variables that a check defines itself. Names that the
 * account does not define come first, then sorted by key. Reads at most `maxRead` checks.
 */
export async function findVariableUses(
  sql: Sql,
  {
    accountId,
    key,
    maxKeys,
    maxChecks,
    maxRead,
  }: {
    readonly accountId: string;
    /** null: all. */
    readonly key: string | null;
    readonly maxKeys: number;
    /** Maximum number of checks to return for each variable. */
    readonly maxChecks: number;
    /** Maximum number of checks with placeholders to read. */
    readonly maxRead: number;
  },
): Promise<{
  readonly uses: readonly VariableUse[];
  readonly total: number;
  /** The number of checks with placeholders that were read. */
  readonly read: number;
}> {
  const rows = await sql.query<(VariableUse | { readonly key: null }) & Totals>(
    `with looked_at as (
       select c.id, c.name, array(
         select distinct m[1] from regexp_matches(request.text, $2, 'g') m
         where length(m[1]) <= ${MAX_KEY_CHARS} and ($3::text is null or m[1] = $3)
           and not coalesce(c.body -> 'variables', '[]') @> jsonb_build_array(jsonb_build_object('key', m[1]))
       ) as keys
       from checks c
       -- Assertions have no placeholders. Without the offset the text would be made twice.
       cross join lateral (select ((c.body -> 'request') - 'assertions')::text as text offset 0) request
       where c.account_id = $1 and c.check_type in ('URL', 'API', 'TCP')
         -- Finding a text takes a fraction of the time of matching the pattern.
         and strpos(request.text, '{{') > 0 and strpos(request.text, coalesce($3::text, '{{')) > 0
       limit $6::bigint
     ), used as (
       select id, name, unnest(keys) as key from looked_at
     ), counted as (
       select key, count(*) as check_count,
         to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name) order by name, id))[1:$4::int]) as checks
       from used group by key
     )
     select (select count(*) from looked_at) as read, listed.*
     -- One row, also without a name.
     from (values (1)) as one left join (
       select key, check_count, checks, is_defined, count(*) over () as total
       from (select counted.*, exists (select 1 from variables v
           where v.account_id = $1 and v.key = counted.key) as is_defined from counted) as named
       order by is_defined, key collate "C" limit $5::bigint
     ) as listed on true
     order by is_defined, key collate "C"`,
    [accountId, PLACEHOLDER, key, maxChecks, maxKeys, maxRead],
  );
  const uses = rows.flatMap(({ total: _, read: __, ...use }) => (use.key === null ? [] : [use]));
  return { uses, total: rows[0]?.total ?? 0, read: rows[0]?.read ?? 0 };
}

import { CHECK_STATES, type CheckState } from '../../../model/result/check-state.ts';
import {
  CHECK_RUN_LOCATIONS,
  CHECK_STATE,
  CHECKS_WITH_STATUS,
  type CheckFilter,
  checksMatching,
} from '../../checks/shared.sql.ts';
import type { Sql } from '../../database/store.ts';
import type { BreakdownBy } from './breakdown-by.ts';

/** The checks with a tag, of a group or in a location, by state. */
export type BreakdownEntry = Readonly<Record<CheckState, number>> & {
  /** The tag, the id of the group, or the location; null for checks without one. */
  readonly value: string | null;
  /** The name of a group or a private location; null for a tag. */
  readonly name: string | null;
  /** Since when a private location is silent; null otherwise. */
  readonly silentSince: Date | null;
};

interface Parts {
  /** The values of a check, as JSON; a check without any has the value null. */
  readonly values: string;
  readonly name: string;
  readonly silentSince: string;
  readonly join: string;
}

const NOTHING = { name: 'null::text', silentSince: 'null::timestamptz', join: '' } as const;
const PARTS: Readonly<Record<BreakdownBy, Parts>> = {
  tag: { ...NOTHING, values: 'c.tags' },
  group: {
    ...NOTHING,
    values: `case when c.group_id is null then '[]' else jsonb_build_array(c.group_id) end`,
    name: 'g.name',
    join: 'left join check_groups g on g.account_id = $1 and g.id::text = p.value',
  },
  location: {
    values: CHECK_RUN_LOCATIONS,
    name: 'l.name',
    silentSince: 'q.since',
    join: `left join private_locations l on l.account_id = $1 and l.slug = p.value
      left join silent_locations q on q.location_id = l.id`,
  },
};

const URGENT = CHECK_STATES.filter((state) => state !== 'passing' && state !== 'paused');
/** The most urgent states first, as in the list of statuses; then by name. */
const orderOf = (name: string): string =>
  [
    ...URGENT.map((state) => `p.${state} desc`),
    `lower(coalesce(${name}, p.value)) nulls last`,
    'p.value nulls last',
  ].join(', ');

/**
 * Groups the matching checks. Call `OutdatedStates.refresh` before.
 *
 * @returns the first entries, and the number of all entries
 */
export async function breakDownStates(
  sql: Sql,
  { by, limit, ...filter }: CheckFilter & { readonly by: BreakdownBy; readonly limit: number },
): Promise<{ readonly entries: readonly BreakdownEntry[]; readonly total: number }> {
  const { condition, params } = checksMatching(filter);
  const { values, name, silentSince, join } = PARTS[by];
  const counts = CHECK_STATES.map(
    (state) => `count(*) filter (where checks.state = '${state}')::int as ${state}`,
  );
  const rows = await sql.query<BreakdownEntry & { readonly total: number }>(
    `with checks as materialized (
       select ${CHECK_STATE} as state, ${values} as values from ${CHECKS_WITH_STATUS} where ${condition}
     ), parts as (
       select part.value, ${counts.join(', ')}
       from checks left join lateral (
         select distinct value from jsonb_array_elements_text(checks.values) as each (value)) part on true
       group by part.value
     )
     select p.*, ${name} as name, ${silentSince} as silent_since, count(*) over ()::int as total
     from parts p ${join}
     order by ${orderOf(name)} limit $${params.length + 1}::bigint`,
    [...params, limit],
  );
  return { entries: rows.map(({ total: _, ...entry }) => entry), total: rows[0]?.total ?? 0 };
}

import type { Sql } from '../database/store.ts';
import type { RemovedTable, RowOwner } from './tables.ts';

const CONDITIONS: Readonly<Record<RowOwner, string>> = {
  account: 'account_id = $1',
  locations: 'location_id in (select id from private_locations where account_id = $1)',
  groupRuns: 'group_run_id in (select id from check_group_runs where account_id = $1)',
};

export type RemovedRows = {
  readonly removed: number;
  /** Whether more rows may be left. */
  readonly isFull: boolean;
  /** The last value of the walked column; null without one, or where there was no row. */
  readonly last: string | null;
};

/**
 * Removes one batch of rows of an account.
 *
 * @param from the table, or a partition of it as `partitionsOf` names it
 * @param after where the walked column starts; null for the beginning
 */
export async function removeRows(
  tx: Sql,
  {
    table: { by = 'account', walk },
    from,
    accountId,
    after,
    limit,
  }: {
    readonly table: RemovedTable;
    readonly from: string;
    readonly accountId: string;
    readonly after: string | null;
    readonly limit: number;
  },
): Promise<RemovedRows> {
  const condition = CONDITIONS[by];
  const isFurther = walk !== undefined && after !== null;
  const [row] = await tx.query<{ removed: number; seen: number; last: string | null }>(
    `with doomed as materialized (
       select ctid as at${walk === undefined ? '' : `, ${walk.column} as walked`} from ${from}
       where ${condition}${isFurther ? ` and ${walk.column} >= $3::${walk.type}` : ''}
       ${walk === undefined ? '' : `order by ${walk.column}`} limit $2::bigint
     ), gone as (
       delete from ${from}
       where ctid = any(array(select at from doomed)) and ${condition}
       returning 1 as one
     )
     select (select count(*) from gone) as removed, (select count(*) from doomed) as seen,
       ${walk === undefined ? 'null::text' : '(select max(walked)::text from doomed)'} as last`,
    isFurther ? [accountId, limit, after] : [accountId, limit],
  );
  const { removed = 0, seen = 0, last = null } = row ?? {};
  return { removed, isFull: seen === limit, last };
}

/** The partitions of a table, as statements name them, in the order of their names. */
export async function partitionsOf(sql: Sql, table: string): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    `select c.oid::regclass::text as name
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1::text)
     order by c.relname`,
    [table],
  );
  return rows.map(({ name }) => name);
}

import type { Param, Row, Sql } from '../store.ts';
import type { ListFacts, ListPosition, ListRange } from './list-walk.ts';

/** A list of the API as SQL. Nothing in it comes from a caller, except the parameters. */
export interface List {
  readonly columns: string;
  readonly from: string;
  /** The column of the listed table. Default: `list_position`. */
  readonly position?: string;
  /** Conditions that an index supports. */
  readonly where: string;
  /** Further conditions. The total is exact only if at most MAX_COUNTED rows meet `where`. */
  readonly filter?: string;
  readonly params: readonly Param[];
  /** The order of pages. */
  readonly order: string;
  /** A value that is unique in the list. Default: the column `id`, a text. */
  readonly id?: { readonly sql: string; readonly type: 'text' | 'bigint' };
  /** Wraps the query of a page in another, which must also select `keys`. */
  readonly wrap?: (page: string, order: string, keys: string) => string;
}

/** The ids of most lists with sequential ids. */
export const NUMBER_ID = { sql: 'id', type: 'bigint' } as const;
const TEXT_ID = { sql: 'id', type: 'text' } as const;

/** Maximum number of rows that are counted for a total. */
const MAX_COUNTED = 10_000;

/**
 * Reads a part of a list: either a page in the list's own order, or the entries after a cursor in the order
 * in which their transactions began. Entries after a cursor end before the first transaction that is still
 * running: src/service/database/README.md, "Cursors".
 */
export async function readList<R extends Row>(
  sql: Sql,
  list: List,
  range: ListRange,
): Promise<readonly R[]> {
  const after = range.walk?.after ?? null;
  const rows =
    after === null
      ? await readPage<R>(sql, list, range)
      : await readAfter<R>(sql, list, range, after);
  const last = after === null ? undefined : rows.at(-1);
  if (range.walk !== undefined) {
    range.walk.found({
      entries: rows.length,
      last: last === undefined ? null : { position: last.cursorPosition, id: last.cursorId },
      ...(await totalOf(sql, list, range, rows.length)),
    });
  }
  if (last === undefined) return rows;
  return rows.map(({ cursorPosition: _, cursorId: __, ...row }) => row as unknown as R);
}

type Keyed<R> = R & { readonly cursorPosition: string; readonly cursorId: string };

function readPage<R extends Row>(
  sql: Sql,
  list: List,
  { limit, offset }: ListRange,
): Promise<readonly Keyed<R>[]> {
  const params = [...list.params, limit, offset];
  const order = `order by ${list.order}`;
  const page = `select ${list.columns} from ${list.from} where ${conditionsOf(list)}
    ${order} limit $${params.length - 1}::bigint offset $${params.length}::bigint`;
  return sql.query<Keyed<R>>(list.wrap?.(page, order, '') ?? page, params);
}

function readAfter<R extends Row>(
  sql: Sql,
  list: List,
  { limit }: ListRange,
  after: ListPosition,
): Promise<readonly Keyed<R>[]> {
  const params = [...list.params, after.position, after.id, limit];
  const { sql: id, type } = list.id ?? TEXT_ID;
  const at = list.position ?? 'list_position';
  const [position, afterId, most] = [-2, -1, 0].map((n) => `$${params.length + n}`);
  const page = `select ${list.columns}, ${at}::text as cursor_position,
      (${id})::text as cursor_id
    from ${list.from}
    where ${conditionsOf(list)} and (${at}, ${id}) > (${position}::bigint, ${afterId}::${type})
      and ${at} < (select list_horizon())
    order by ${at}, ${id} limit ${most}::bigint`;
  const wrapped = list.wrap?.(
    page,
    `order by cursor_position::bigint, cursor_id::${type}`,
    ', cursor_position, cursor_id',
  );
  return sql.query<Keyed<R>>(wrapped ?? page, params);
}

async function totalOf(
  sql: Sql,
  list: List,
  { limit, offset, walk }: ListRange,
  entries: number,
): Promise<Pick<ListFacts, 'total' | 'isAtLeast'>> {
  const isLastPage = walk?.after === null && entries < limit && (entries > 0 || offset === 0);
  if (isLastPage) return { total: offset + entries, isAtLeast: false };
  const [row] = await sql.query<{ total: number; seen: number }>(
    `select count(*) filter (where fits) as total, count(*) as seen
     from (select (${list.filter ?? 'true'}) as fits from ${list.from} where ${list.where}
       limit ${MAX_COUNTED + 1}) as counted`,
    list.params,
  );
  const { total = 0, seen = 0 } = row ?? {};
  return { total: Math.min(total, MAX_COUNTED), isAtLeast: seen > MAX_COUNTED };
}

function conditionsOf({ where, filter }: List): string {
  return filter === undefined ? where : `${where} and (${filter})`;
}

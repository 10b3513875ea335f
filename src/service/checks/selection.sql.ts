import type { StoredCheckType } from '../../model/enums.ts';
import type { Sql } from '../database/store.ts';
import { CHECKS_WITH_STATUS, type CheckFilter, checksMatching } from './check-filter.sql.ts';

export interface SelectedCheck {
  readonly id: string;
  /** null if there is no such check. */
  readonly checkType: StoredCheckType | null;
}

/** In the order of the ids. */
export async function selectByIds(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly SelectedCheck[]> {
  const rows = await sql.query<{ id: string; checkType: StoredCheckType }>(
    'select id, check_type from checks where account_id = $1 and id = any($2::text[])',
    [accountId, ids],
  );
  const types = new Map(rows.map(({ id, checkType }) => [id, checkType]));
  return ids.map((id) => ({ id, checkType: types.get(id) ?? null }));
}

/** The oldest of the checks that match, and how many match. */
export async function selectByFilter(
  sql: Sql,
  filter: CheckFilter,
  limit: number,
): Promise<{ readonly total: number; readonly found: readonly SelectedCheck[] }> {
  const { condition, params } = checksMatching(filter);
  const rows = await sql.query<{ id: string; checkType: StoredCheckType; total: number }>(
    `select c.id, c.check_type, count(*) over () as total from ${CHECKS_WITH_STATUS}
     where ${condition} order by c.created_at, c.id limit $${params.length + 1}::bigint`,
    [...params, limit],
  );
  const found = rows.map(({ id, checkType }) => ({ id, checkType }));
  return { total: rows[0]?.total ?? 0, found };
}

/** Whether the check exists and matches. */
export async function isMatching(sql: Sql, filter: CheckFilter, id: string): Promise<boolean> {
  const { condition, params } = checksMatching(filter);
  const rows = await sql.query(
    `select c.id from ${CHECKS_WITH_STATUS} where ${condition} and c.id = $${params.length + 1}`,
    [...params, id],
  );
  return rows.length > 0;
}

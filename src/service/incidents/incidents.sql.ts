import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange, PageEntry } from '../database/lists/page-entries.ts';
import type { Param, Sql } from '../database/store.ts';
import type { IncidentTables } from './tables.sql.ts';
import {
  readUpdate,
  type StoredUpdate,
  selectUpdates,
  type UpdateJson,
  type UpdatesRead,
} from './updates.sql.ts';

export type StoredIncident<Fields> = Fields & {
  readonly id: string;
  /** Oldest first: all, or only the first. */
  readonly updates: readonly StoredUpdate[];
  readonly createdAt: Date;
  /** null until the incident or its updates first changed. */
  readonly updatedAt: Date | null;
};

export type IncidentRow<Fields> = Omit<StoredIncident<Fields>, 'updates'> & {
  readonly updates: readonly UpdateJson[];
};

export function readIncident<Fields>(row: IncidentRow<Fields>): StoredIncident<Fields> {
  return { ...row, updates: row.updates.map(readUpdate) } as StoredIncident<Fields>;
}

/**
 * Selects the incidents `i` with their updates in one statement, so that both are consistent.
 *
 * @param from the table, or a query that selects the rows
 */
export function selectIncidents(
  tables: IncidentTables,
  read: UpdatesRead,
  from = tables.incidents,
): string {
  return `select i.id, i.name, ${tables.fields}, ${selectUpdates(tables, read)} as updates,
      i.created_at, i.updated_at
    from ${from} i`;
}

/** Values by column. The columns are named in our code, never by a caller. */
export type Columns = Readonly<Record<string, Param>>;

/** Without its updates. */
export async function insertIncident(
  sql: Sql,
  tables: IncidentTables,
  {
    accountId,
    id,
    columns,
    createdAtMs,
  }: AccountKey & { readonly columns: Columns; readonly createdAtMs: number },
): Promise<void> {
  const names = Object.keys(columns);
  await sql.query(
    `insert into ${tables.incidents} (account_id, id, created_at, ${names.join(', ')})
     values ($1, $2, $3::timestamptz, ${names.map((_, index) => `$${index + 4}`).join(', ')})`,
    [accountId, id, new Date(createdAtMs), ...Object.values(columns)],
  );
}

/** Increases `updated_at` with every write, even within a millisecond: ETags are hashes of what is shown. */
const LATER = `updated_at = greatest($3::timestamptz,
  coalesce(i.updated_at, i.created_at) + interval '1 millisecond')`;

/** Only for an incident that `lockIncident` locks. */
export async function updateIncident(
  sql: Sql,
  tables: IncidentTables,
  {
    accountId,
    id,
    columns,
    updatedAtMs,
  }: AccountKey & { readonly columns: Columns; readonly updatedAtMs: number },
): Promise<void> {
  const changes = Object.keys(columns).map((name, index) => `, ${name} = $${index + 4}`);
  await sql.query(
    `update ${tables.incidents} i set ${LATER}${tables.onEdit}${changes.join('')}
     where account_id = $1 and id = $2`,
    [accountId, id, new Date(updatedAtMs), ...Object.values(columns)],
  );
}

/** Call it after a change of the incident's updates. Only for an incident that `lockIncident` locks. */
export async function touchIncident(
  sql: Sql,
  tables: IncidentTables,
  { accountId, id, atMs }: AccountKey & { readonly atMs: number },
): Promise<void> {
  await sql.query(
    `update ${tables.incidents} i set ${LATER}${tables.onEdit}${tables.afterUpdates}
     where i.account_id = $1 and i.id = $2`,
    [accountId, id, new Date(atMs)],
  );
}

export async function findIncident<Fields>(
  sql: Sql,
  tables: IncidentTables,
  { accountId, id, read }: AccountKey & { readonly read: UpdatesRead },
): Promise<StoredIncident<Fields> | null> {
  const [row] = await sql.query<IncidentRow<Fields>>(
    `${selectIncidents(tables, read)} where i.account_id = $1 and i.id = $2`,
    [accountId, id],
  );
  return row === undefined ? null : readIncident(row);
}

/**
 * Locks the incident with its services and updates until the transaction ends.
 *
 * @returns false if there is no such incident
 */
export async function lockIncident(
  sql: Sql,
  tables: IncidentTables,
  { accountId, id }: AccountKey,
): Promise<boolean> {
  const rows = await sql.query(
    `select id from ${tables.incidents} where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  return rows.length > 0;
}

/** The filter and the order of a list of incidents. */
export interface IncidentFilter {
  /** Only those of which the last update says RESOLVED, or only the others. Default: all. */
  readonly isOpen?: boolean | undefined;
  /** Default: oldest first. */
  readonly isNewestFirst?: boolean | undefined;
}

/** The ids of a page of incidents. */
export async function listIncidentEntries(
  sql: Sql,
  tables: IncidentTables,
  { accountId, isOpen, isNewestFirst = false, ...range }: AccountRange & IncidentFilter,
): Promise<readonly PageEntry<string>[]> {
  const list = {
    columns: `id, ${tables.bytes} as bytes`,
    from: tables.incidents,
    where: 'account_id = $1',
    ...(isOpen === undefined ? {} : { filter: isOpen ? tables.isOpen : `not (${tables.isOpen})` }),
    params: [accountId],
    order: isNewestFirst ? 'n desc' : 'n',
  };
  return readList<PageEntry<string>>(sql, list, range);
}

/** The incidents that still exist, in the order of the ids, each with its first update. */
export async function findIncidents<Fields>(
  sql: Sql,
  tables: IncidentTables,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<readonly StoredIncident<Fields>[]> {
  const rows = await sql.query<IncidentRow<Fields>>(
    `${selectIncidents(tables, 'first')} where i.account_id = $1 and i.id = any($2::text[])
     order by array_position($2::text[], i.id)`,
    [accountId, ids],
  );
  return rows.map(readIncident);
}

/** @returns whether there was one */
export async function deleteIncident(
  sql: Sql,
  tables: IncidentTables,
  { accountId, id }: AccountKey,
): Promise<void> {
  await sql.query(`delete from ${tables.incidents} where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
}

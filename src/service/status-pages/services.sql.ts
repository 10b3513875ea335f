import type { StatusPageService } from '../../model/status-page/status-page.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists.ts';
import type { AccountRange } from '../database/page-entries.ts';
import type { Sql } from '../database/store.ts';

export type StoredService = StatusPageService & {
  readonly id: string;
  readonly accountId: string;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
};

const COLUMNS = 'id, account_id, name, created_at, updated_at';

export async function insertService(
  sql: Sql,
  {
    accountId,
    id,
    name,
    createdAtMs,
  }: AccountKey & StatusPageService & { readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into status_page_services (account_id, id, name, created_at)
     values ($1, $2, $3, $4::timestamptz)`,
    [accountId, id, name, new Date(createdAtMs)],
  );
}

export async function findService(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredService | null> {
  return readService(sql, { accountId, id }, '');
}

/** Until the transaction ends, nobody else changes the service or begins to name it. */
export async function lockService(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<StoredService | null> {
  return readService(sql, { accountId, id }, 'for update');
}

async function readService(
  sql: Sql,
  { accountId, id }: AccountKey,
  lock: '' | 'for update',
): Promise<StoredService | null> {
  const [row] = await sql.query<StoredService>(
    `select ${COLUMNS} from status_page_services where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return row ?? null;
}

/** Oldest first. */
export async function listServices(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly StoredService[]> {
  const list = {
    columns: COLUMNS,
    from: 'status_page_services',
    where: 'account_id = $1',
    params: [accountId],
    order: 'n',
  };
  return readList<StoredService>(sql, list, range);
}

export async function updateService(
  sql: Sql,
  {
    accountId,
    id,
    name,
    updatedAtMs,
  }: AccountKey & StatusPageService & { readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_services set name = $3, updated_at = $4::timestamptz
     where account_id = $1 and id = $2`,
    [accountId, id, name, new Date(updatedAtMs)],
  );
}

/** The database deletes it from cards and incidents, too. */
export async function deleteService(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query('delete from status_page_services where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/**
 * Until the transaction ends, none of these services is deleted.
 *
 * @returns the ids of those that exist
 */
export async function lockServicesShared(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql.query<{ id: string }>(
    `select id from status_page_services where account_id = $1 and id = any($2::text[])
     order by id for key share`,
    [accountId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

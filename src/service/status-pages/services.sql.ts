import type { StatusPageService } from '../../model/status-page/status-page.ts';
import type { Sql } from '../database/port.ts';

export interface StoredService {
  readonly id: string;
  readonly accountId: string;
  readonly fields: StatusPageService;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
}

export interface ServiceKey {
  readonly accountId: string;
  readonly id: string;
}

type ServiceRow = {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

const COLUMNS = 'id, account_id, name, created_at, updated_at';

function serviceOf(row: ServiceRow): StoredService {
  return {
    id: row.id,
    accountId: row.accountId,
    fields: { name: row.name },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export async function insertService(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    createdAtMs,
  }: ServiceKey & { readonly fields: StatusPageService; readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into status_page_services (account_id, id, name, created_at)
     values ($1, $2, $3, $4::timestamptz)`,
    [accountId, id, fields.name, new Date(createdAtMs)],
  );
}

export async function findService(
  sql: Sql,
  { accountId, id }: ServiceKey,
): Promise<StoredService | null> {
  return readService(sql, { accountId, id }, '');
}

/** Until the transaction ends, nobody else changes the service or begins to name it. */
export async function lockService(
  sql: Sql,
  { accountId, id }: ServiceKey,
): Promise<StoredService | null> {
  return readService(sql, { accountId, id }, 'for update');
}

async function readService(
  sql: Sql,
  { accountId, id }: ServiceKey,
  lock: '' | 'for update',
): Promise<StoredService | null> {
  const rows = await sql.query<ServiceRow>(
    `select ${COLUMNS} from status_page_services where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : serviceOf(rows[0]);
}

/** Oldest first. */
export async function listServices(
  sql: Sql,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: string; readonly limit: number; readonly offset: number },
): Promise<readonly StoredService[]> {
  const rows = await sql.query<ServiceRow>(
    `select ${COLUMNS} from status_page_services where account_id = $1
     order by n limit $2::bigint offset $3::bigint`,
    [accountId, limit, offset],
  );
  return rows.map(serviceOf);
}

export async function updateService(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    updatedAtMs,
  }: ServiceKey & { readonly fields: StatusPageService; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_services set name = $3, updated_at = $4::timestamptz
     where account_id = $1 and id = $2`,
    [accountId, id, fields.name, new Date(updatedAtMs)],
  );
}

/** Cards and incidents lose it. */
export async function deleteService(sql: Sql, { accountId, id }: ServiceKey): Promise<void> {
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

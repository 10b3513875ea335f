import type { PlanLimit } from '../../model/account/plan.ts';
import type { Sql } from '../database/store.ts';

export type StoredAccount = {
  readonly id: string;
  readonly name: string;
  /** A name of the IANA database, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly createdAt: Date;
  /** null until the first update. */
  readonly updatedAt: Date | null;
};

const COLUMNS = 'id, name, time_zone, created_at, updated_at';

export async function findAccount(sql: Sql, id: string): Promise<StoredAccount | null> {
  const [account] = await sql.query<StoredAccount>(
    `select ${COLUMNS} from accounts where id = $1`,
    [id],
  );
  return account ?? null;
}

/** The oldest accounts of that name: names are not unique. */
export function findAccountsByName(
  sql: Sql,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<readonly StoredAccount[]> {
  return sql.query<StoredAccount>(
    `select ${COLUMNS} from accounts where name = $1 order by created_at, id limit $2::bigint`,
    [name, limit],
  );
}

/** @returns false if an account has that id already */
export async function insertAccount(
  sql: Sql,
  account: { readonly id: string; readonly name: string; readonly createdAtMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into accounts (id, name, created_at) values ($1, $2, $3::timestamptz)
     on conflict (id) do nothing returning id`,
    [account.id, account.name, new Date(account.createdAtMs)],
  );
  return rows.length > 0;
}

export async function updateAccount(
  sql: Sql,
  account: {
    readonly id: string;
    readonly name: string;
    readonly timeZone: string;
    readonly updatedAtMs: number;
  },
): Promise<void> {
  await sql.query(
    'update accounts set name = $2, time_zone = $3, updated_at = $4::timestamptz where id = $1',
    [account.id, account.name, account.timeZone, new Date(account.updatedAtMs)],
  );
}

/**
 * Locks the account until the transaction ends. Inserting rows that refer to the account does not wait
 * for this lock: results of its checks are still stored. Lock it before checks, groups and locations.
 */
export async function lockAccount(sql: Sql, id: string): Promise<void> {
  await sql.query('select id from accounts where id = $1 for no key update', [id]);
}

export async function hasAccount(sql: Sql): Promise<boolean> {
  const rows = await sql.query('select 1 as one from accounts limit 1');
  return rows.length > 0;
}

/** How many accounts there are, counted up to `upTo`. */
export async function countAccounts(sql: Sql, upTo: number): Promise<number> {
  return (await sql.query('select 1 as one from accounts limit $1::bigint', [upTo])).length;
}

/** The oldest account. */
export async function findFirstAccount(sql: Sql): Promise<StoredAccount | null> {
  const [account] = await sql.query<StoredAccount>(
    `select ${COLUMNS} from accounts order by created_at, id limit 1`,
  );
  return account ?? null;
}

/**
 * Returns whether an account exists. Blocks the creation of accounts until the transaction ends: if several
 * replicas start at once, only one of them creates the first account.
 */
export async function lockFirstAccount(sql: Sql): Promise<boolean> {
  await sql.query('lock table accounts in share row exclusive mode');
  return hasAccount(sql);
}

/** The table and rows that a plan counts. */
const COUNTED: Readonly<Record<PlanLimit, string>> = {
  checks: `checks where check_type <> 'HEARTBEAT' and account_id = $1`,
  heartbeats: `checks where check_type = 'HEARTBEAT' and account_id = $1`,
  checkGroups: 'check_groups where account_id = $1',
  privateLocations: 'private_locations where account_id = $1',
  alertChannels: 'alert_channels where account_id = $1',
  maintenanceWindows: 'maintenance_windows where account_id = $1',
  statusPages: 'status_pages where account_id = $1',
  clientCertificates: 'client_certificates where account_id = $1',
  snippets: 'snippets where account_id = $1',
  variables: 'variables where account_id = $1',
};

/** Far more than any account has. Bounds the work of a count that a request triggers. */
const MAX_COUNTED = 1_000_000;

/** How many of each resource an account has. */
export async function countsOfPlan(
  sql: Sql,
  accountId: string,
): Promise<Readonly<Record<PlanLimit, number>>> {
  const counts = Object.entries(COUNTED).map(
    ([resource, rows]) =>
      `'${resource}', (select count(*) from (select from ${rows} limit ${MAX_COUNTED}) counted)`,
  );
  const [row] = await sql.query<{ counts: Readonly<Record<PlanLimit, number>> }>(
    `select jsonb_build_object(${counts.join(', ')}) as counts`,
    [accountId],
  );
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row.counts;
}

/** How many of a resource an account has, counted up to `upTo`. */
export async function countOfPlan(
  sql: Sql,
  {
    accountId,
    resource,
    upTo,
  }: { readonly accountId: string; readonly resource: PlanLimit; readonly upTo: number },
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count from (select from ${COUNTED[resource]} limit $2::bigint) counted`,
    [accountId, upTo],
  );
  return row?.count ?? 0;
}

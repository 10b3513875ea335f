import type { Sql } from '../database/port.ts';

export interface StoredAccount {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

export async function findAccount(sql: Sql, id: string): Promise<StoredAccount | null> {
  const [row] = await sql.query<{ id: string; name: string; createdAt: Date }>(
    'select id, name, created_at from accounts where id = $1',
    [id],
  );
  return row === undefined ? null : { id: row.id, name: row.name, createdAt: row.createdAt };
}

/** @returns false where an account has that id already */
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

/**
 * Until the transaction ends, whoever else locks the account waits. Whoever only refers to it does
 * not: results of its checks go on coming in. To be taken before checks, groups and locations.
 */
export async function lockAccount(sql: Sql, id: string): Promise<void> {
  await sql.query('select id from accounts where id = $1 for no key update', [id]);
}

export async function hasAccount(sql: Sql): Promise<boolean> {
  const rows = await sql.query('select 1 as one from accounts limit 1');
  return rows.length > 0;
}

/**
 * Whether there is any account yet. Until the transaction ends nobody else makes one, so that of
 * several replicas that start at once, one makes the first.
 */
export async function lockFirstAccount(sql: Sql): Promise<boolean> {
  await sql.query('lock table accounts in share row exclusive mode');
  return hasAccount(sql);
}

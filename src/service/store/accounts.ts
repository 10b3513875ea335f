import type { Sql } from './port.ts';

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

/** Until the transaction ends, whoever else locks the account waits. */
export async function lockAccount(sql: Sql, id: string): Promise<void> {
  await sql.query('select id from accounts where id = $1 for update', [id]);
}

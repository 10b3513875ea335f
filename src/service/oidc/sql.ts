import type { Sql } from '../database/store.ts';

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** The id of the user; null if the identity is new. */
export async function findUserIdByIdentity(
  sql: Sql,
  { issuer, subject }: Identity,
): Promise<string | null> {
  const [found] = await sql.query<{ userId: string }>(
    'select user_id from user_identities where issuer = $1 and subject = $2',
    [issuer, subject],
  );
  return found?.userId ?? null;
}

/** Deletes the user's identities of one issuer. */
export async function deleteIdentities(
  sql: Sql,
  { issuer, userId }: { readonly issuer: string; readonly userId: string },
): Promise<void> {
  await sql.query('delete from user_identities where issuer = $1 and user_id = $2', [
    issuer,
    userId,
  ]);
}

export async function insertIdentity(
  sql: Sql,
  {
    issuer,
    subject,
    userId,
    createdAtMs,
  }: Identity & { readonly userId: string; readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into user_identities (issuer, subject, user_id, created_at)
     values ($1, $2, $3, $4::timestamptz)`,
    [issuer, subject, userId, new Date(createdAtMs)],
  );
}

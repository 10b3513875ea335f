import type { Sql } from '../database/store.ts';

interface RevokedAccess {
  /** API keys and keys of locations. */
  readonly keys: number;
  /** How many users belonged to the account. */
  readonly users: number;
  /** Open links, such as invitations. */
  readonly links: number;
}

/**
 * Revokes all access: removes keys, memberships and links, and the users who belong to no other account,
 * with their sessions. Running replicas accept a cached key or session for at most KEY_TTL_MS more.
 */
export async function revokeAccess(tx: Sql, accountId: string): Promise<RevokedAccess> {
  // Waits for transactions that add a key or a member and blocks new ones: the deletions below see all rows.
  await tx.query('select id from accounts where id = $1 for update', [accountId]);
  const keys =
    (await removed(tx, 'delete from api_keys where account_id = $1', accountId)) +
    (await removed(tx, 'delete from location_keys where account_id = $1', accountId));
  const links = await removed(tx, 'delete from one_time_links where account_id = $1', accountId);
  const members = await tx.query<{ userId: string }>(
    'delete from memberships where account_id = $1 returning user_id',
    [accountId],
  );
  await tx.query(
    `delete from users u where u.id = any($1::text[])
       and not exists (select from memberships m where m.user_id = u.id)`,
    [members.map(({ userId }) => userId)],
  );
  return { keys, users: members.length, links };
}

async function removed(tx: Sql, deletion: string, accountId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `with gone as (${deletion} returning 1 as one) select count(*) as count from gone`,
    [accountId],
  );
  return row?.count ?? 0;
}

/**
 * Deletes the row of the account, and rows that refer to it.
 *
 * @returns false if it has an artifact, whose content would stay in the artifact store
 */
export async function deleteAccount(tx: Sql, accountId: string): Promise<boolean> {
  await tx.query('select id from accounts where id = $1 for update', [accountId]);
  const rows = await tx.query(
    `delete from accounts where id = $1
       and not exists (select from artifacts where account_id = $1)
       and not exists (select from artifact_uploads where account_id = $1)
     returning id`,
    [accountId],
  );
  if (rows.length > 0) return true;
  // Another command may have deleted it meanwhile.
  return (await tx.query('select id from accounts where id = $1', [accountId])).length === 0;
}

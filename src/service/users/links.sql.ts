import type { Role } from '../../model/enums.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

export type Invitation = {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

const INVITATION = 'id, account_id, email, role, created_at, expires_at';

/** Replaces an earlier invitation of the same email to the account. */
export async function insertInvitation(
  sql: Sql,
  invitation: Invitation & { readonly tokenHash: Uint8Array },
): Promise<void> {
  const { id, accountId, email, role, tokenHash, createdAt, expiresAt } = invitation;
  await deleteInvitationsOf(sql, { accountId, email });
  await sql.query(
    `insert into one_time_links
       (id, kind, account_id, email, role, token_hash, created_at, expires_at)
     values ($1, 'invitation', $2, $3, $4, $5::bytea, $6::timestamptz, $7::timestamptz)`,
    [id, accountId, email, role, tokenHash, createdAt, expiresAt],
  );
}

/** Locks an invitation of any account, so that it is used once. */
export async function lockInvitation(
  sql: Sql,
  { tokenHash, nowMs }: { readonly tokenHash: Uint8Array; readonly nowMs: number },
): Promise<Invitation | null> {
  const [found] = await sql.query<Invitation>(
    `select ${INVITATION} from one_time_links
     where kind = 'invitation' and token_hash = $1::bytea and expires_at > $2::timestamptz
     for update`,
    [tokenHash, new Date(nowMs)],
  );
  return found ?? null;
}

/** Oldest first. */
export function listInvitations(
  sql: Sql,
  { accountId, nowMs, ...range }: AccountRange & { readonly nowMs: number },
): Promise<readonly Invitation[]> {
  const list = {
    columns: INVITATION,
    from: 'one_time_links',
    where: `account_id = $1 and kind = 'invitation' and expires_at > $2::timestamptz`,
    params: [accountId, new Date(nowMs)],
    order: 'created_at, id',
  };
  return readList<Invitation>(sql, list, range);
}

export async function countInvitations(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*)::int as count from one_time_links where account_id = $1',
    [accountId],
  );
  return row?.count ?? 0;
}

export async function deleteInvitation(sql: Sql, { accountId, id }: AccountKey): Promise<boolean> {
  const rows = await sql.query(
    'delete from one_time_links where account_id = $1 and id = $2 returning id',
    [accountId, id],
  );
  return rows.length > 0;
}

/** @param email in lower case */
export async function deleteInvitationsOf(
  sql: Sql,
  { accountId, email }: { readonly accountId: string; readonly email: string },
): Promise<void> {
  await sql.query('delete from one_time_links where account_id = $1 and email = $2', [
    accountId,
    email,
  ]);
}

/** Deletes the invitations of admins. */
export async function deleteAdminInvitations(sql: Sql, accountId: string): Promise<void> {
  await sql.query(`delete from one_time_links where account_id = $1 and role = 'admin'`, [
    accountId,
  ]);
}

export async function insertSetupLink(
  sql: Sql,
  link: {
    readonly id: string;
    readonly tokenHash: Uint8Array;
    readonly createdAtMs: number;
    readonly expiresAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into one_time_links (id, kind, token_hash, created_at, expires_at)
     values ($1, 'setup', $2::bytea, $3::timestamptz, $4::timestamptz)`,
    [link.id, link.tokenHash, new Date(link.createdAtMs), new Date(link.expiresAtMs)],
  );
}

export async function isSetupLink(
  sql: Sql,
  { tokenHash, nowMs }: { readonly tokenHash: Uint8Array; readonly nowMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `select id from one_time_links
     where kind = 'setup' and token_hash = $1::bytea and expires_at > $2::timestamptz`,
    [tokenHash, new Date(nowMs)],
  );
  return rows.length > 0;
}

export async function deleteSetupLinks(sql: Sql): Promise<void> {
  await sql.query(`delete from one_time_links where kind = 'setup'`);
}

export async function insertPasswordLink(
  sql: Sql,
  link: {
    readonly id: string;
    readonly email: string;
    readonly tokenHash: Uint8Array;
    readonly createdAtMs: number;
    readonly expiresAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into one_time_links (id, kind, email, token_hash, created_at, expires_at)
     values ($1, 'password', $2, $3::bytea, $4::timestamptz, $5::timestamptz)`,
    [link.id, link.email, link.tokenHash, new Date(link.createdAtMs), new Date(link.expiresAtMs)],
  );
}

/** The email of the user whose password the link sets; null if it is not valid. */
export async function findPasswordLink(
  sql: Sql,
  { tokenHash, nowMs }: { readonly tokenHash: Uint8Array; readonly nowMs: number },
): Promise<string | null> {
  const [found] = await sql.query<{ email: string }>(
    `select email from one_time_links
     where kind = 'password' and token_hash = $1::bytea and expires_at > $2::timestamptz`,
    [tokenHash, new Date(nowMs)],
  );
  return found?.email ?? null;
}

/**
 * @param email in lower case
 * @returns whether there was one
 */
export async function deletePasswordLinks(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql.query(
    `delete from one_time_links where kind = 'password' and email = $1 returning id`,
    [email],
  );
  return rows.length > 0;
}

/** @returns how many it deleted */
export async function deleteExpiredLinks(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from one_time_links where id in (
       select id from one_time_links where expires_at < $1::timestamptz limit $2::bigint)
     returning id`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

import type { Role } from '../../model/enums.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

export type StoredUser = {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  /** Null if the user has no password. */
  readonly passwordHash: string | null;
};

/** A user as a member of one account. */
export type Member = {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** When the user joined the account. */
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
};

interface MemberKey {
  readonly accountId: string;
  readonly userId: string;
}

const USER = 'id, email, password_hash';
const MEMBER = 'u.id, u.email, m.role, m.created_at, u.last_sign_in_at';
const MEMBERS = 'memberships m join users u on u.id = m.user_id';

export async function findUser(sql: Sql, id: string): Promise<StoredUser | null> {
  const [found] = await sql.query<StoredUser>(`select ${USER} from users where id = $1`, [id]);
  return found ?? null;
}

/** @param email in lower case */
export async function findUserByEmail(sql: Sql, email: string): Promise<StoredUser | null> {
  const [found] = await sql.query<StoredUser>(`select ${USER} from users where email = $1`, [
    email,
  ]);
  return found ?? null;
}

export async function hasUser(sql: Sql): Promise<boolean> {
  return (await sql.query('select 1 as one from users limit 1')).length > 0;
}

/** @returns false where another user has the email */
export async function insertUser(
  sql: Sql,
  user: StoredUser & { readonly createdAtMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into users (id, email, password_hash, created_at) values ($1, $2, $3, $4::timestamptz)
     on conflict (email) do nothing returning id`,
    [user.id, user.email, user.passwordHash, new Date(user.createdAtMs)],
  );
  return rows.length > 0;
}

/**
 * @param insteadOf the hash that was checked
 * @returns false if another hash, or none, is stored now
 */
export async function updatePassword(
  sql: Sql,
  {
    id,
    passwordHash,
    insteadOf,
  }: { readonly id: string; readonly passwordHash: string; readonly insteadOf: string },
): Promise<boolean> {
  const rows = await sql.query(
    'update users set password_hash = $2 where id = $1 and password_hash = $3 returning id',
    [id, passwordHash, insteadOf],
  );
  return rows.length > 0;
}

export async function setPassword(
  sql: Sql,
  { id, passwordHash }: { readonly id: string; readonly passwordHash: string },
): Promise<void> {
  await sql.query('update users set password_hash = $2 where id = $1', [id, passwordHash]);
}

export async function removePassword(sql: Sql, id: string): Promise<void> {
  await sql.query('update users set password_hash = null where id = $1', [id]);
}

/**
 * @param checkedHash the password hash with which the user signs in; null for another way
 * @returns false where the user has another hash now, or does not exist
 */
export async function noteSignIn(
  sql: Sql,
  {
    id,
    atMs,
    checkedHash,
  }: { readonly id: string; readonly atMs: number; readonly checkedHash: string | null },
): Promise<boolean> {
  const rows = await sql.query(
    `update users set last_sign_in_at = $2::timestamptz
     where id = $1 and ($3::text is null or password_hash = $3::text) returning id`,
    [id, new Date(atMs), checkedHash],
  );
  return rows.length > 0;
}

/** @returns false where the user belongs to the account already */
export async function insertMembership(
  sql: Sql,
  member: MemberKey & { readonly role: Role; readonly createdAtMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into memberships (account_id, user_id, role, created_at)
     values ($1, $2, $3, $4::timestamptz) on conflict do nothing returning role`,
    [member.accountId, member.userId, member.role, new Date(member.createdAtMs)],
  );
  return rows.length > 0;
}

/** Makes the user a member with this role, or changes the role of a member. */
export async function putMembership(
  sql: Sql,
  member: MemberKey & { readonly role: Role; readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into memberships (account_id, user_id, role, created_at)
     values ($1, $2, $3, $4::timestamptz)
     on conflict (account_id, user_id) do update set role = excluded.role`,
    [member.accountId, member.userId, member.role, new Date(member.createdAtMs)],
  );
}

export async function findMember(
  sql: Sql,
  { accountId, userId }: MemberKey,
): Promise<Member | null> {
  const [found] = await sql.query<Member>(
    `select ${MEMBER} from ${MEMBERS} where m.account_id = $1 and m.user_id = $2`,
    [accountId, userId],
  );
  return found ?? null;
}

/** Lists the members in the order in which they joined. */
export function listMembers(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly Member[]> {
  const list = {
    columns: MEMBER,
    from: MEMBERS,
    position: 'm.list_position',
    where: 'm.account_id = $1',
    params: [accountId],
    order: 'm.created_at, u.id',
    id: { sql: 'u.id', type: 'text' },
  } as const;
  return readList<Member>(sql, list, range);
}

/**
 * Finds the users who belong only to this account, in the order in which they joined. `isOnlyMember`: the account
 * has no other user.
 */
export function findSoleMembers(
  sql: Sql,
  accountId: string,
): Promise<
  readonly {
    readonly id: string;
    readonly email: string;
    readonly role: Role;
    readonly isOnlyMember: boolean;
  }[]
> {
  return sql.query(
    `select u.id, u.email, m.role, (select count(*) from memberships where account_id = $1) = 1
       as is_only_member
     from ${MEMBERS}
     where m.account_id = $1 and not exists (
       select 1 from memberships other where other.user_id = m.user_id and other.account_id <> $1)
     order by m.created_at, u.id`,
    [accountId],
  );
}

export async function countMembers(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*)::int as count from memberships where account_id = $1',
    [accountId],
  );
  return row?.count ?? 0;
}

/** Whether the account has an admin other than this user. */
export async function hasOtherAdminUser(
  sql: Sql,
  { accountId, userId }: { readonly accountId: string; readonly userId: string | null },
): Promise<boolean> {
  const rows = await sql.query(
    `select user_id from memberships
     where account_id = $1 and role = 'admin' and user_id is distinct from $2::text limit 1`,
    [accountId, userId],
  );
  return rows.length > 0;
}

export async function updateRole(
  sql: Sql,
  { accountId, userId, role }: MemberKey & { readonly role: Role },
): Promise<void> {
  await sql.query('update memberships set role = $3 where account_id = $1 and user_id = $2', [
    accountId,
    userId,
    role,
  ]);
}

export async function deleteMembership(sql: Sql, { accountId, userId }: MemberKey): Promise<void> {
  await sql.query('delete from memberships where account_id = $1 and user_id = $2', [
    accountId,
    userId,
  ]);
}

/** The accounts of a user, with their names; the one that the user joined first comes first. */
export function listAccountsOfUser(
  sql: Sql,
  userId: string,
): Promise<readonly { readonly id: string; readonly name: string; readonly role: Role }[]> {
  return sql.query(
    `select a.id, a.name, m.role from memberships m join accounts a on a.id = m.account_id
     where m.user_id = $1 order by m.created_at, a.id`,
    [userId],
  );
}

import type { Sql } from '../database/store.ts';
import type { Membership } from '../http/access/caller.ts';

export type StoredSession = {
  readonly id: string;
  readonly userId: string;
  /** Where the user signed in. */
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastUsedAt: Date;
  readonly endsAt: Date;
};

/** A session with its user. */
export type ActiveSession = {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly lastUsedAt: Date;
  readonly memberships: readonly Membership[];
};

/** Sessions end at `nowMs`, or if they were last used before `idleSinceMs`. */
export interface Ends {
  readonly nowMs: number;
  readonly idleSinceMs: number;
}

const COLUMNS = 'id, user_id, address, user_agent, created_at, last_used_at, ends_at';

export async function insertSession(
  sql: Sql,
  { tokenHash, ...session }: StoredSession & { readonly tokenHash: Uint8Array },
): Promise<void> {
  const { id, userId, address, userAgent, createdAt, lastUsedAt, endsAt } = session;
  await sql.query(
    `insert into user_sessions (${COLUMNS}, token_hash)
     values ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz, $8::bytea)`,
    [id, userId, address, userAgent, createdAt, lastUsedAt, endsAt, tokenHash],
  );
}

/** In the order of the hashes; null for an unknown or an ended session. */
export async function findActiveSessions(
  sql: Sql,
  hashes: readonly Uint8Array[],
  { nowMs, idleSinceMs }: Ends,
): Promise<readonly (ActiveSession | null)[]> {
  const hexes = hashes.map((hash) => Buffer.from(hash).toString('hex'));
  const rows = await sql.query<ActiveSession & { readonly hash: string }>(
    `select s.id, s.user_id, u.email, s.last_used_at, encode(s.token_hash, 'hex') as hash,
       (select coalesce(json_agg(json_build_object('accountId', m.account_id, 'role', m.role)
          order by m.created_at, m.account_id), '[]')
        from memberships m where m.user_id = s.user_id) as memberships
     from user_sessions s join users u on u.id = s.user_id
     where s.token_hash = any(array(select decode(hex, 'hex') from unnest($1::text[]) as hex))
       and s.ends_at > $2::timestamptz and s.last_used_at > $3::timestamptz`,
    [hexes, new Date(nowMs), new Date(idleSinceMs)],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hexes.map((hex) => found.get(hex) ?? null);
}

/** Stores when the session was used, unless the stored time is less than `staleMs` older: most requests write nothing. */
export async function touchSession(
  sql: Sql,
  { id, usedAtMs, staleMs }: { readonly id: string; readonly usedAtMs: number; staleMs: number },
): Promise<void> {
  await sql.query(
    `update user_sessions set last_used_at = $2::timestamptz
     where id = $1 and last_used_at < $3::timestamptz`,
    [id, new Date(usedAtMs), new Date(usedAtMs - staleMs)],
  );
}

/** The most recent sign-in first. */
export function listSessions(
  sql: Sql,
  userId: string,
  { nowMs, idleSinceMs }: Ends,
): Promise<readonly StoredSession[]> {
  return sql.query<StoredSession>(
    `select ${COLUMNS} from user_sessions
     where user_id = $1 and ends_at > $2::timestamptz and last_used_at > $3::timestamptz
     order by created_at desc, id`,
    [userId, new Date(nowMs), new Date(idleSinceMs)],
  );
}

export async function deleteSession(
  sql: Sql,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<boolean> {
  const rows = await sql.query(
    'delete from user_sessions where user_id = $1 and id = $2 returning id',
    [userId, id],
  );
  return rows.length > 0;
}

export async function deleteSessionsOf(sql: Sql, userId: string): Promise<void> {
  await sql.query('delete from user_sessions where user_id = $1', [userId]);
}

/** Deletes the oldest sessions of a user beyond a maximum. */
export async function deleteSessionsBeyond(
  sql: Sql,
  { userId, max }: { readonly userId: string; readonly max: number },
): Promise<void> {
  await sql.query(
    `delete from user_sessions where id in (
       select id from user_sessions where user_id = $1
       order by created_at desc, id offset $2::bigint)`,
    [userId, max],
  );
}

/** @returns how many it deleted */
export async function deleteEndedSessions(
  sql: Sql,
  { nowMs, idleSinceMs }: Ends,
  limit: number,
): Promise<number> {
  const rows = await sql.query(
    `delete from user_sessions where id in (
       select id from user_sessions
       where ends_at <= $1::timestamptz or last_used_at <= $2::timestamptz limit $3::bigint)
     returning id`,
    [new Date(nowMs), new Date(idleSinceMs), limit],
  );
  return rows.length;
}

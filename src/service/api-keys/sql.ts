import type { Sql } from '../database/port.ts';
import type { Role } from '../http/access/authenticator.ts';

/** An API key as it may be shown: the key itself is kept only as a hash. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly role: Role;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

type ApiKeyRow = {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly role: Role;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
};

const COLUMNS = 'id, account_id, name, role, key_prefix, created_at, last_used_at, revoked_at';

function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    role: row.role,
    prefix: row.keyPrefix,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt,
    revokedAt: row.revokedAt,
  };
}

export async function insertApiKey(
  sql: Sql,
  key: {
    readonly id: string;
    readonly accountId: string;
    readonly name: string;
    readonly role: Role;
    readonly hash: Uint8Array;
    readonly prefix: string;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into api_keys (id, account_id, name, role, key_hash, key_prefix, created_at)
     values ($1, $2, $3, $4, $5::bytea, $6, $7::timestamptz)`,
    [key.id, key.accountId, key.name, key.role, key.hash, key.prefix, new Date(key.createdAtMs)],
  );
}

export async function findApiKey(
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<ApiKey | null> {
  const rows = await sql.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : apiKeyOf(rows[0]);
}

/** Of any account, as the key is what says which one. A revoked key is not found. */
export async function findActiveApiKeyByHash(sql: Sql, hash: Uint8Array): Promise<ApiKey | null> {
  const [found = null] = await findActiveApiKeysByHash(sql, [hash]);
  return found;
}

/** The same for many, by one statement, in the order of the hashes. */
export async function findActiveApiKeysByHash(
  sql: Sql,
  hashes: readonly Uint8Array[],
): Promise<readonly (ApiKey | null)[]> {
  const hexes = hashes.map((hash) => Buffer.from(hash).toString('hex'));
  const rows = await sql.query<ApiKeyRow & { readonly hash: string }>(
    `select ${COLUMNS}, encode(key_hash, 'hex') as hash from api_keys
     where key_hash = any(array(select decode(hex, 'hex') from unnest($1::text[]) as hex))
       and revoked_at is null`,
    [hexes],
  );
  const found = new Map(rows.map((row) => [row.hash, apiKeyOf(row)]));
  return hexes.map((hex) => found.get(hex) ?? null);
}

/** Oldest first. */
export async function listApiKeys(
  sql: Sql,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: string; readonly limit: number; readonly offset: number },
): Promise<readonly ApiKey[]> {
  const rows = await sql.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where account_id = $1
     order by created_at, id limit $2::bigint offset $3::bigint`,
    [accountId, limit, offset],
  );
  return rows.map(apiKeyOf);
}

/** Whether the account has an admin key that is not revoked, beside the one given. */
export async function hasOtherAdminKey(
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<boolean> {
  const rows = await sql.query(
    `select id from api_keys
     where account_id = $1 and id <> $2 and role = 'admin' and revoked_at is null limit 1`,
    [accountId, id],
  );
  return rows.length > 0;
}

/** The first revocation stands. */
export async function revokeApiKey(
  sql: Sql,
  key: { readonly accountId: string; readonly id: string; readonly revokedAtMs: number },
): Promise<void> {
  await sql.query(
    `update api_keys set revoked_at = $3::timestamptz
     where account_id = $1 and id = $2 and revoked_at is null`,
    [key.accountId, key.id, new Date(key.revokedAtMs)],
  );
}

/** Notes a use, unless one of `staleMs` before it or less is noted: most requests write nothing. */
export async function touchApiKey(
  sql: Sql,
  { id, usedAtMs, staleMs }: { readonly id: string; readonly usedAtMs: number; staleMs: number },
): Promise<void> {
  await sql.query(
    `update api_keys set last_used_at = $2::timestamptz
     where id = $1 and (last_used_at is null or last_used_at < $3::timestamptz)`,
    [id, new Date(usedAtMs), new Date(usedAtMs - staleMs)],
  );
}

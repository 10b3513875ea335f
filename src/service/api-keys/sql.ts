import type { Role } from '../../model/enums.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { findActiveKeysByHash, KEY_COLUMNS, type StoredKey } from './keys.sql.ts';

export type ApiKey = StoredKey & { readonly name: string; readonly role: Role };

const COLUMNS = `${KEY_COLUMNS}, name, role`;

export async function insertApiKey(
  sql: Sql,
  key: {
    readonly id: string;
    readonly accountId: string;
    readonly name: string;
    readonly role: Role;
    readonly hash: Uint8Array;
    readonly prefix: string;
    readonly lastFour: string;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into api_keys
       (id, account_id, name, role, key_hash, key_prefix, key_last_four, created_at)
     values ($1, $2, $3, $4, $5::bytea, $6, $7, $8::timestamptz)`,
    [
      key.id,
      key.accountId,
      key.name,
      key.role,
      key.hash,
      key.prefix,
      key.lastFour,
      new Date(key.createdAtMs),
    ],
  );
}

export async function findApiKey(sql: Sql, { accountId, id }: AccountKey): Promise<ApiKey | null> {
  const [found] = await sql.query<ApiKey>(
    `select ${COLUMNS} from api_keys where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return found ?? null;
}

export async function findActiveApiKeyByHash(sql: Sql, hash: Uint8Array): Promise<ApiKey | null> {
  const [found = null] = await findActiveApiKeysByHash(sql, [hash]);
  return found;
}

/** Keys of any account, in the order of the hashes; null for an unknown or a revoked key. */
export function findActiveApiKeysByHash(
  sql: Sql,
  hashes: readonly Uint8Array[],
): Promise<readonly (ApiKey | null)[]> {
  return findActiveKeysByHash<ApiKey>(sql, { table: 'api_keys', columns: COLUMNS }, hashes);
}

/** Oldest first. */
export function listApiKeys(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly ApiKey[]> {
  const list = {
    columns: COLUMNS,
    from: 'api_keys',
    where: 'account_id = $1',
    params: [accountId],
    order: 'created_at, id',
  };
  return readList<ApiKey>(sql, list, range);
}

/** Whether the account has an admin key that is not revoked, other than this one. */
export async function hasOtherAdminKey(
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string | null },
): Promise<boolean> {
  const rows = await sql.query(
    `select id from api_keys
     where account_id = $1 and id is distinct from $2::text and role = 'admin'
       and revoked_at is null limit 1`,
    [accountId, id],
  );
  return rows.length > 0;
}

/** A later revocation does not change the time of the first. */
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

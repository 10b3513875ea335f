import type { Sql } from '../database/store.ts';

/** The tables of API keys and of location keys have these columns in common. */
export type StoredKey = {
  readonly id: string;
  readonly accountId: string;
  /** The first characters. The key itself is stored only as a hash. */
  readonly prefix: string;
  /** The last characters; null for keys that a release before this column made. */
  readonly lastFour: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
};
export type KeyTable = 'api_keys' | 'location_keys';

export const KEY_COLUMNS = `id, account_id, key_prefix as prefix, key_last_four as last_four, created_at,
  last_used_at, revoked_at`;

/** Keys of any account, in the order of the hashes; null for an unknown or a revoked key. */
export async function findActiveKeysByHash<Key extends StoredKey>(
  sql: Sql,
  { table, columns }: { readonly table: KeyTable; readonly columns: string },
  hashes: readonly Uint8Array[],
): Promise<readonly (Key | null)[]> {
  const hexes = hashes.map((hash) => Buffer.from(hash).toString('hex'));
  const rows = await sql.query<Key & { readonly hash: string }>(
    `select ${columns}, encode(key_hash, 'hex') as hash from ${table}
     where key_hash = any(array(select decode(hex, 'hex') from unnest($1::text[]) as hex))
       and revoked_at is null`,
    [hexes],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hexes.map((hex) => found.get(hex) ?? null);
}

/** Stores when the key was used, unless the stored time is less than `staleMs` older: most requests write nothing. */
export async function touchKey(
  sql: Sql,
  {
    table,
    id,
    usedAtMs,
    staleMs,
  }: {
    readonly table: KeyTable;
    readonly id: string;
    readonly usedAtMs: number;
    readonly staleMs: number;
  },
): Promise<void> {
  await sql.query(
    `update ${table} set last_used_at = $2::timestamptz
     where id = $1 and (last_used_at is null or last_used_at < $3::timestamptz)`,
    [id, new Date(usedAtMs), new Date(usedAtMs - staleMs)],
  );
}

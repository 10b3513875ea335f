import { findActiveKeysByHash, KEY_COLUMNS, type StoredKey } from '../api-keys/shared.sql.ts';
import type { ListRange } from '../database/lists/list-walk.ts';
import { readList } from '../database/lists/lists.ts';
import type { Sql } from '../database/store.ts';

export type LocationKey = StoredKey & { readonly locationId: string };

const COLUMNS = `${KEY_COLUMNS}, location_id`;

interface OfLocation {
  readonly accountId: string;
  readonly locationId: string;
}

export async function insertLocationKey(
  sql: Sql,
  key: OfLocation & {
    readonly id: string;
    readonly hash: Uint8Array;
    readonly prefix: string;
    readonly lastFour: string;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into location_keys
       (id, account_id, location_id, key_hash, key_prefix, key_last_four, created_at)
     values ($1, $2, $3, $4::bytea, $5, $6, $7::timestamptz)`,
    [
      key.id,
      key.accountId,
      key.locationId,
      key.hash,
      key.prefix,
      key.lastFour,
      new Date(key.createdAtMs),
    ],
  );
}

export async function countActiveLocationKeys(
  sql: Sql,
  { accountId, locationId }: OfLocation,
): Promise<number> {
  const rows = await sql.query<{ active: number }>(
    `select count(*) as active from location_keys
     where account_id = $1 and location_id = $2 and revoked_at is null`,
    [accountId, locationId],
  );
  return rows[0]?.active ?? 0;
}

/** Oldest first, including revoked ones. */
export function listLocationKeys(
  sql: Sql,
  { accountId, locationId, ...range }: OfLocation & ListRange,
): Promise<readonly LocationKey[]> {
  const list = {
    columns: COLUMNS,
    from: 'location_keys',
    where: 'account_id = $1 and location_id = $2',
    params: [accountId, locationId],
    order: 'created_at, id',
  };
  return readList<LocationKey>(sql, list, range);
}

/** Keys of any location, in the order of the hashes; null for an unknown or a revoked key. */
export function findActiveLocationKeysByHash(
  sql: Sql,
  hashes: readonly Uint8Array[],
): Promise<readonly (LocationKey | null)[]> {
  const of = { table: 'location_keys', columns: COLUMNS } as const;
  return findActiveKeysByHash<LocationKey>(sql, of, hashes);
}

/**
 * A later revocation does not change the time of the first.
 *
 * @returns false if the location has no such key
 */
export async function revokeLocationKey(
  sql: Sql,
  key: OfLocation & { readonly id: string; readonly revokedAtMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `update location_keys set revoked_at = coalesce(revoked_at, $4::timestamptz)
     where account_id = $1 and location_id = $2 and id = $3 returning id`,
    [key.accountId, key.locationId, key.id, new Date(key.revokedAtMs)],
  );
  return rows.length > 0;
}

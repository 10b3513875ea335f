import type { Sql } from '../database/port.ts';

/** A location's key as it may be shown: the key itself is kept only as a hash. */
export interface LocationKey {
  readonly id: string;
  readonly accountId: string;
  readonly locationId: string;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

type LocationKeyRow = {
  readonly id: string;
  readonly accountId: string;
  readonly locationId: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
};

const COLUMNS = 'id, account_id, location_id, key_prefix, created_at, last_used_at, revoked_at';

function locationKeyOf(row: LocationKeyRow): LocationKey {
  return {
    id: row.id,
    accountId: row.accountId,
    locationId: row.locationId,
    prefix: row.keyPrefix,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt,
    revokedAt: row.revokedAt,
  };
}

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
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into location_keys (id, account_id, location_id, key_hash, key_prefix, created_at)
     values ($1, $2, $3, $4::bytea, $5, $6::timestamptz)`,
    [key.id, key.accountId, key.locationId, key.hash, key.prefix, new Date(key.createdAtMs)],
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

/** Oldest first, revoked ones too. */
export async function listLocationKeys(
  sql: Sql,
  {
    accountId,
    locationId,
    limit,
    offset,
  }: OfLocation & { readonly limit: number; readonly offset: number },
): Promise<readonly LocationKey[]> {
  const rows = await sql.query<LocationKeyRow>(
    `select ${COLUMNS} from location_keys where account_id = $1 and location_id = $2
     order by created_at, id limit $3::bigint offset $4::bigint`,
    [accountId, locationId, limit, offset],
  );
  return rows.map(locationKeyOf);
}

/**
 * Of any account, as the key is what says which one: by one statement, in the order of the hashes.
 * A revoked key is not found.
 */
export async function findActiveLocationKeysByHash(
  sql: Sql,
  hashes: readonly Uint8Array[],
): Promise<readonly (LocationKey | null)[]> {
  const hexes = hashes.map((hash) => Buffer.from(hash).toString('hex'));
  const rows = await sql.query<LocationKeyRow & { readonly hash: string }>(
    `select ${COLUMNS}, encode(key_hash, 'hex') as hash from location_keys
     where key_hash = any(array(select decode(hex, 'hex') from unnest($1::text[]) as hex))
       and revoked_at is null`,
    [hexes],
  );
  const found = new Map(rows.map((row) => [row.hash, locationKeyOf(row)]));
  return hexes.map((hex) => found.get(hex) ?? null);
}

/**
 * The first revocation stands.
 *
 * @returns false where the location has no such key
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

/** Notes a use, unless one of `staleMs` before it or less is noted: most polls write nothing. */
export async function touchLocationKey(
  sql: Sql,
  { id, usedAtMs, staleMs }: { readonly id: string; readonly usedAtMs: number; staleMs: number },
): Promise<void> {
  await sql.query(
    `update location_keys set last_used_at = $2::timestamptz
     where id = $1 and (last_used_at is null or last_used_at < $3::timestamptz)`,
    [id, new Date(usedAtMs), new Date(usedAtMs - staleMs)],
  );
}

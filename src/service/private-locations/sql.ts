import type { Sql } from '../database/port.ts';

export interface PrivateLocation {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly name: string;
  readonly icon: string | null;
  /** With a mask in the place of its password, where that is encrypted. */
  readonly proxyUrl: string | null;
  /** The password of its proxy, encrypted; null where it has none, or has it in clear. */
  readonly sealedProxyPassword: Buffer | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  /** Counts the changes to what the location runs. */
  readonly revision: number;
}

type LocationRow = {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly name: string;
  readonly icon: string | null;
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  readonly revision: number;
};

const COLUMNS = `id, account_id, slug, name, icon, proxy_url, sealed_proxy_password, created_at,
  updated_at, revision`;

function locationOf(row: LocationRow): PrivateLocation {
  return {
    id: row.id,
    accountId: row.accountId,
    slug: row.slug,
    name: row.name,
    icon: row.icon,
    proxyUrl: row.proxyUrl,
    sealedProxyPassword: row.sealedProxyPassword,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    revision: row.revision,
  };
}

export interface LocationKeyOf {
  readonly accountId: string;
  readonly id: string;
}

/** @returns false where the account has a location with that slug already */
export async function insertPrivateLocation(
  sql: Sql,
  location: LocationKeyOf & {
    readonly slug: string;
    readonly name: string;
    readonly icon: string | null;
    readonly proxyUrl: string | null;
    readonly sealedProxyPassword: Buffer | null;
    readonly createdAtMs: number;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into private_locations (id, account_id, slug, name, icon, proxy_url, created_at,
       updated_at, sealed_proxy_password)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz, null, $8::bytea)
     on conflict (account_id, slug) do nothing returning id`,
    [
      location.id,
      location.accountId,
      location.slug,
      location.name,
      location.icon,
      location.proxyUrl,
      new Date(location.createdAtMs),
      location.sealedProxyPassword,
    ],
  );
  return rows.length > 0;
}

export async function findPrivateLocation(
  sql: Sql,
  { accountId, id }: LocationKeyOf,
): Promise<PrivateLocation | null> {
  return readLocation(sql, accountId, id, '');
}

/** Until the transaction ends, nobody else changes the location, its keys or its checks. */
export async function lockPrivateLocation(
  sql: Sql,
  { accountId, id }: LocationKeyOf,
): Promise<PrivateLocation | null> {
  return readLocation(sql, accountId, id, 'for update');
}

async function readLocation(
  sql: Sql,
  accountId: string,
  id: string,
  lock: '' | 'for update',
): Promise<PrivateLocation | null> {
  const rows = await sql.query<LocationRow>(
    `select ${COLUMNS} from private_locations where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : locationOf(rows[0]);
}

/** Oldest first. */
export async function listPrivateLocations(
  sql: Sql,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: string; readonly limit: number; readonly offset: number },
): Promise<readonly PrivateLocation[]> {
  const rows = await sql.query<LocationRow>(
    `select ${COLUMNS} from private_locations where account_id = $1
     order by created_at, id limit $2::bigint offset $3::bigint`,
    [accountId, limit, offset],
  );
  return rows.map(locationOf);
}

export async function updatePrivateLocation(
  sql: Sql,
  location: LocationKeyOf & {
    readonly name: string;
    readonly icon: string | null;
    readonly proxyUrl: string | null;
    readonly sealedProxyPassword: Buffer | null;
    readonly updatedAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `update private_locations set name = $3, icon = $4, proxy_url = $5, updated_at = $6::timestamptz,
       sealed_proxy_password = $7::bytea
     where account_id = $1 and id = $2`,
    [
      location.accountId,
      location.id,
      location.name,
      location.icon,
      location.proxyUrl,
      new Date(location.updatedAtMs),
      location.sealedProxyPassword,
    ],
  );
}

/** Its keys go with it. */
export async function deletePrivateLocation(
  sql: Sql,
  { accountId, id }: LocationKeyOf,
): Promise<void> {
  await sql.query('delete from private_locations where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/**
 * Locks the locations of these slugs until the transaction ends, in the order of their ids so that
 * two transactions never wait for each other. Those who only refer to one, as the assigner does for
 * seconds where there are many checks, neither wait nor are waited for.
 *
 * @returns the slugs that exist
 */
export async function lockLocationsOfSlugs(
  sql: Sql,
  { accountId, slugs }: { readonly accountId: string; readonly slugs: readonly string[] },
): Promise<readonly string[]> {
  if (slugs.length === 0) return [];
  const rows = await sql.query<{ slug: string }>(
    `select slug from private_locations
     where account_id = $1 and slug = any($2::text[])
     order by id for no key update`,
    [accountId, slugs],
  );
  return rows.map(({ slug }) => slug);
}

/** Counts one more change to what these locations run. The triggers tell their agents. */
export async function bumpLocations(
  sql: Sql,
  { accountId, slugs }: { readonly accountId: string; readonly slugs: readonly string[] },
): Promise<void> {
  if (slugs.length === 0) return;
  await sql.query(
    `update private_locations set revision = revision + 1
     where account_id = $1 and slug = any($2::text[])`,
    [accountId, slugs],
  );
}

import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

export type PrivateLocation = {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly name: string;
  readonly icon: string | null;
  /** A password that is encrypted is replaced by a mask. */
  readonly proxyUrl: string | null;
  /** The encrypted password of the proxy; null if it has none, or if that is stored unencrypted. */
  readonly sealedProxyPassword: Buffer | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  /** Counts the changes to what the location runs. */
  readonly revision: number;
  /** The last poll of its agents; null if the location is not silent. */
  readonly silentSince: Date | null;
};

const COLUMNS = `id, account_id, slug, name, icon, proxy_url, sealed_proxy_password, created_at,
  updated_at, revision,
  (select s.since from silent_locations s where s.location_id = private_locations.id) as silent_since`;

/** @returns false if the account has a location with that slug already */
export async function insertPrivateLocation(
  sql: Sql,
  location: AccountKey & {
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
  { accountId, id }: AccountKey,
): Promise<PrivateLocation | null> {
  return readLocation(sql, accountId, id, '');
}

/** Locks the location, its keys and its checks until the transaction ends. */
export async function lockPrivateLocation(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<PrivateLocation | null> {
  return readLocation(sql, accountId, id, 'for update');
}

async function readLocation(
  sql: Sql,
  accountId: string,
  id: string,
  lock: '' | 'for update',
): Promise<PrivateLocation | null> {
  const [location] = await sql.query<PrivateLocation>(
    `select ${COLUMNS} from private_locations where account_id = $1 and id = $2 ${lock}`,
    [accountId, id],
  );
  return location ?? null;
}

/** Oldest first. */
export function listPrivateLocations(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly PrivateLocation[]> {
  const list = {
    columns: COLUMNS,
    from: 'private_locations',
    where: 'account_id = $1',
    params: [accountId],
    order: 'created_at, id',
  };
  return readList<PrivateLocation>(sql, list, range);
}

export async function updatePrivateLocation(
  sql: Sql,
  location: AccountKey & {
    readonly name: string;
    readonly icon: string | null;
    readonly proxyUrl: string | null;
    readonly sealedProxyPassword: Buffer | null;
    readonly updatedAtMs: number;
  },
): Promise<Date> {
  const [row] = await sql.query<{ updatedAt: Date }>(
    `update private_locations set name = $3, icon = $4, proxy_url = $5, updated_at = greatest($6::timestamptz, updated_at + interval '1 millisecond'),
       sealed_proxy_password = $7::bytea
     where account_id = $1 and id = $2 returning updated_at`,
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
  return row?.updatedAt ?? new Date(location.updatedAtMs);
}

/** Deletes the location and its keys. */
export async function deletePrivateLocation(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<void> {
  await sql.query('delete from private_locations where account_id = $1 and id = $2', [
    accountId,
    id,
  ]);
}

/** Returns the locations with these slugs that exist. */
export function findLocationsOfSlugs(
  sql: Sql,
  { accountId, slugs }: { readonly accountId: string; readonly slugs: readonly string[] },
): Promise<readonly Pick<PrivateLocation, 'id' | 'slug'>[]> {
  return sql.query<Pick<PrivateLocation, 'id' | 'slug'>>(
    'select id, slug from private_locations where account_id = $1 and slug = any($2::text[])',
    [accountId, slugs],
  );
}

/**
 * Locks the locations with these slugs until the transaction ends, in the order of ids, so that two
 * transactions cannot deadlock. Does not conflict with a key share lock, which the assigner may hold for
 * seconds if there are many checks.
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

/** Records a change of the checks of these locations. Triggers notify the assigner. */
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

import type { AccountKey } from '../database/account-key.ts';
import type { Row, Sql, Store } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

/** Stored credentials: for the rewrite that encrypts or decrypts them. */

/** A range of checks or of locations. */
export interface CredentialsRange {
  /** The last one before the range, by account and id; null for the first range. */
  readonly after: AccountKey | null;
  readonly limit: number;
}

export type CheckCredentials = {
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
};

export interface LocationProxy {
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
}

/** A connected replica; those of one machine with the same name count once. */
export type Replica = {
  /** See `replicaName`. */
  readonly name: string;
  /** null for a local socket, or if PostgreSQL does not report it. */
  readonly address: string | null;
};

/** All connected replicas, including this one. None for the embedded database: it has one process. */
export async function listReplicas(store: Store): Promise<readonly Replica[]> {
  if (store.kind === 'pglite') return [];
  return store.query<Replica>(
    `select distinct application_name as name, host(client_addr) as address from pg_stat_activity
     where datname = current_database()
       and (application_name = 'vedette' or application_name like 'vedette/%')
     order by 1, 2`,
  );
}

/**
 * Whether a replica that encrypts credentials is connected.
 *
 * @param store with one connection: any other belongs to another process
 */
export async function isOtherReplicaConnected(store: Store): Promise<boolean> {
  if (store.kind === 'pglite') return false;
  const rows = await store.query(
    `select from pg_stat_activity where datname = current_database()
       and application_name like 'vedette/%' and pid <> pg_backend_pid() limit 1`,
  );
  return rows.length > 0;
}

/** The names of the keys that encrypted credentials, from the sealed texts. */
export async function listCredentialKeys(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    `select distinct encode(substring(sealed from 2 for 8), 'hex') as name from (
       select sealed_proxy_password as sealed from private_locations
       union all
       -- The values of a check with secret variables may contain no credential.
       select sealed_variables from checks where sealed_variables is not null
         and not jsonb_path_exists(body, '$.variables[*] ? (@.secret == true)')
     ) stored where sealed is not null`,
  );
  return rows.map(({ name }) => name);
}

export const SEALED_KINDS = [
  'checks',
  'locations',
  'variables',
  'certificates',
  'channels',
  'subscribers',
] as const;
export type SealedKind = (typeof SEALED_KINDS)[number];

/** How many rows of a kind have a secret that a key encrypted. */
export type SealedCount = {
  readonly kind: SealedKind;
  readonly keyName: string;
  readonly count: number;
};

export function countSealed(sql: Sql): Promise<readonly SealedCount[]> {
  return sql.query<SealedCount>(
    `select kind, encode(substring(sealed from 2 for 8), 'hex') as key_name, count(*)::int as count
     from (
       select 'checks' as kind, sealed_variables as sealed from checks
       union all select 'locations', sealed_proxy_password from private_locations
       union all select 'variables', sealed_value from variables
       union all select 'certificates', sealed_key from client_certificates
       union all select 'channels', sealed_secrets from alert_channels
       union all select 'subscribers', sealed from status_page_subscribers
     ) stored where sealed is not null group by 1, 2`,
  );
}

/** Kinds whose rows have a name that may be logged: subscribers have only an address. */
export type NamedKind = Exclude<SealedKind, 'subscribers'>;

/** A row with a secret that a key encrypted. */
export type SealedRow = {
  readonly kind: NamedKind;
  readonly accountId: string;
  /** The id of a check or channel, the slug of a location, the key of a variable, the host of a certificate. */
  readonly name: string;
};

export interface SealedBy {
  readonly kinds: readonly NamedKind[];
  /** See SealedCount. */
  readonly keyNames: readonly string[];
  readonly limit: number;
}

/** The rows of these kinds whose secrets one of the keys encrypted, by kind, account and name. */
export function listSealedBy(
  sql: Sql,
  { kinds, keyNames, limit }: SealedBy,
): Promise<readonly SealedRow[]> {
  return sql.query<SealedRow>(
    `select kind, account_id, name from (
       select 'checks' as kind, account_id, id as name, sealed_variables as sealed from checks
       union all
       select 'locations', account_id, slug, sealed_proxy_password from private_locations
       union all select 'variables', account_id, key, sealed_value from variables
       union all select 'certificates', account_id, host, sealed_key from client_certificates
       union all select 'channels', account_id, id::text, sealed_secrets from alert_channels
     ) stored
     where kind = any($1::text[]) and sealed is not null
       and encode(substring(sealed from 2 for 8), 'hex') = any($2::text[])
     order by kind, account_id, name limit $3::bigint`,
    [kinds, keyNames, limit],
  );
}

/**
 * The checks that may have credentials, by account and id, with the parts of their bodies that may.
 *
 * @param range `changedSinceMs`: only checks that a user changed since then, by the clocks of replicas;
 *   their times are compared first, so the bodies of other checks are not read. null: all
 */
export function listCredentialChecks(
  sql: Sql,
  { after, limit, changedSinceMs }: CredentialsRange & { readonly changedSinceMs: number | null },
): Promise<readonly (AccountKey & CheckCredentials)[]> {
  return sql.query<AccountKey & CheckCredentials & Row>(
    `select account_id, id, sealed_variables, jsonb_build_object('request', jsonb_build_object(
       'url', body #> '{request,url}', 'basicAuth', body #> '{request,basicAuth}',
       'auth', body #> '{request,auth}', 'headers', body #> '{request,headers}')) as body
     from checks
     where (account_id, id) > ($1, $2)
       and case when greatest(created_at, updated_at) < $4::timestamptz then false
         else sealed_variables is not null
           or body #>> '{request,url}' like '%@%'
           or jsonb_typeof(body #> '{request,basicAuth}') = 'object'
           or jsonb_typeof(body #> '{request,auth}') = 'object'
           or body #>> '{request,headers,0,key}' is not null end
     order by account_id, id limit $3::bigint`,
    [
      after?.accountId ?? '',
      after?.id ?? '',
      limit,
      changedSinceMs === null ? null : new Date(changedSinceMs),
    ],
  );
}

/** Locks the check until the transaction ends. */
export async function lockCheckCredentials(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<CheckCredentials | null> {
  const [credentials] = await sql.query<CheckCredentials>(
    'select body, sealed_variables from checks where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return credentials ?? null;
}

/** The agents get the check again. `updated_at` does not change: no user changed the check. */
export async function putCheckCredentials(
  sql: Sql,
  { accountId, id, body, sealedVariables }: AccountKey & CheckCredentials,
): Promise<void> {
  await sql.query(
    `update checks set body = $3::jsonb, sealed_variables = $4::bytea, revision = revision + 1
     where account_id = $1 and id = $2`,
    [accountId, id, jsonText(body), sealedVariables],
  );
}

/** The locations whose proxies may have a password, by account and id. */
export function listProxyLocations(
  sql: Sql,
  { after, limit }: CredentialsRange,
): Promise<readonly (AccountKey & LocationProxy)[]> {
  return sql.query<AccountKey & LocationProxy & Row>(
    `select account_id, id, proxy_url, sealed_proxy_password from private_locations
     where (account_id, id) > ($1, $2) and proxy_url like '%@%'
     order by account_id, id limit $3::bigint`,
    [after?.accountId ?? '', after?.id ?? '', limit],
  );
}

/** The caller has locked the location. */
export async function putLocationProxy(
  sql: Sql,
  { accountId, id, proxyUrl, sealedProxyPassword }: AccountKey & LocationProxy,
): Promise<void> {
  await sql.query(
    `update private_locations set proxy_url = $3, sealed_proxy_password = $4::bytea
     where account_id = $1 and id = $2`,
    [accountId, id, proxyUrl, sealedProxyPassword],
  );
}

import type { CheckKey } from '../checks/exports.ts';
import type { Sql, Store } from '../database/port.ts';
import { jsonText } from '../database/values.ts';
import type { LocationKeyOf } from '../private-locations/exports.ts';

/** Credentials as they are stored: for what encrypts those of releases before, and decrypts them again. */

/** Of a check, or of a location. */
export interface CredentialsRange {
  /** Those after this one, by account and id; null for the first. */
  readonly after: CheckKey | null;
  readonly limit: number;
}

export interface CheckCredentials {
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
}

export interface LocationProxy {
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
}

/** Of a replica that is connected, each once for a machine. */
export interface Replica {
  /** As `replicaName` has it. */
  readonly name: string;
  /** null where it comes by a socket of the database's machine, or where PostgreSQL does not say. */
  readonly address: string | null;
}

/** All that are connected, this one too. The embedded database has one process at a time: none. */
export async function listReplicas(store: Store): Promise<readonly Replica[]> {
  if (store.kind === 'pglite') return [];
  const rows = await store.query<{ name: string; address: string | null }>(
    `select distinct application_name as name, host(client_addr) as address from pg_stat_activity
     where datname = current_database()
       and (application_name = 'vedette' or application_name like 'vedette/%')
     order by 1, 2`,
  );
  return rows;
}

/**
 * Whether a replica that encrypts credentials is connected.
 *
 * @param store with one connection: what comes by another is another process
 */
export async function isOtherReplicaConnected(store: Store): Promise<boolean> {
  if (store.kind === 'pglite') return false;
  const rows = await store.query(
    `select from pg_stat_activity where datname = current_database()
       and application_name like 'vedette/%' and pid <> pg_backend_pid() limit 1`,
  );
  return rows.length > 0;
}

/** The names of the keys that encrypted credentials, as sealed texts have them. */
export async function listCredentialKeys(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    `select distinct encode(substring(sealed from 2 for 8), 'hex') as name from (
       select sealed_proxy_password as sealed from private_locations
       union all
       -- With secret variables, it may be them alone.
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
] as const;
export type SealedKind = (typeof SEALED_KINDS)[number];

/** How many rows of a kind have a secret that a key encrypted. */
export interface SealedCount {
  readonly kind: SealedKind;
  /** Of the key, as sealed texts have it. */
  readonly keyName: string;
  readonly count: number;
}

export async function countSealed(sql: Sql): Promise<readonly SealedCount[]> {
  const rows = await sql.query<{ kind: SealedKind; name: string; count: number }>(
    `select kind, encode(substring(sealed from 2 for 8), 'hex') as name, count(*)::int as count from (
       select 'checks' as kind, sealed_variables as sealed from checks
       union all select 'locations', sealed_proxy_password from private_locations
       union all select 'variables', sealed_value from variables
       union all select 'certificates', sealed_key from client_certificates
       union all select 'channels', sealed_secrets from alert_channels
     ) stored where sealed is not null group by 1, 2`,
  );
  return rows.map(({ name, ...row }) => ({ ...row, keyName: name }));
}

/** The checks that may have credentials, by account and id, with what of their bodies may hold one. */
export async function listCredentialChecks(
  sql: Sql,
  { after, limit }: CredentialsRange,
): Promise<readonly (CheckKey & CheckCredentials)[]> {
  const rows = await sql.query<{
    accountId: string;
    id: string;
    request: Record<string, unknown>;
    sealedVariables: Buffer | null;
  }>(
    `select account_id, id, sealed_variables, jsonb_build_object('url', body #> '{request,url}',
       'basicAuth', body #> '{request,basicAuth}', 'headers', body #> '{request,headers}') as request
     from checks
     where (account_id, id) > ($1, $2) and (sealed_variables is not null
       or body #>> '{request,url}' like '%@%'
       or jsonb_typeof(body #> '{request,basicAuth}') = 'object'
       or body #>> '{request,headers,0,key}' is not null)
     order by account_id, id limit $3::bigint`,
    [after?.accountId ?? '', after?.id ?? '', limit],
  );
  return rows.map(({ accountId, id, request, sealedVariables }) => ({
    accountId,
    id,
    body: { request },
    sealedVariables,
  }));
}

/** Until the transaction ends, nobody else changes the check. */
export async function lockCheckCredentials(
  sql: Sql,
  { accountId, id }: CheckKey,
): Promise<CheckCredentials | null> {
  const [row] = await sql.query<{
    body: CheckCredentials['body'];
    sealedVariables: Buffer | null;
  }>('select body, sealed_variables from checks where account_id = $1 and id = $2 for update', [
    accountId,
    id,
  ]);
  return row === undefined ? null : { body: row.body, sealedVariables: row.sealedVariables };
}

/** Its agents are told it anew. When it was updated stays, as nobody changed what it does. */
export async function putCheckCredentials(
  sql: Sql,
  { accountId, id, body, sealedVariables }: CheckKey & CheckCredentials,
): Promise<void> {
  await sql.query(
    `update checks set body = $3::jsonb, sealed_variables = $4::bytea, revision = revision + 1
     where account_id = $1 and id = $2`,
    [accountId, id, jsonText(body), sealedVariables],
  );
}

/** The locations whose proxies may have a password, by account and id. */
export async function listProxyLocations(
  sql: Sql,
  { after, limit }: CredentialsRange,
): Promise<readonly (LocationKeyOf & LocationProxy)[]> {
  const rows = await sql.query<{
    accountId: string;
    id: string;
    proxyUrl: string;
    sealedProxyPassword: Buffer | null;
  }>(
    `select account_id, id, proxy_url, sealed_proxy_password from private_locations
     where (account_id, id) > ($1, $2) and proxy_url like '%@%'
     order by account_id, id limit $3::bigint`,
    [after?.accountId ?? '', after?.id ?? '', limit],
  );
  return rows.map((row) => ({
    accountId: row.accountId,
    id: row.id,
    proxyUrl: row.proxyUrl,
    sealedProxyPassword: row.sealedProxyPassword,
  }));
}

/** Only for a location that is locked. */
export async function putLocationProxy(
  sql: Sql,
  { accountId, id, proxyUrl, sealedProxyPassword }: LocationKeyOf & LocationProxy,
): Promise<void> {
  await sql.query(
    `update private_locations set proxy_url = $3, sealed_proxy_password = $4::bytea
     where account_id = $1 and id = $2`,
    [accountId, id, proxyUrl, sealedProxyPassword],
  );
}

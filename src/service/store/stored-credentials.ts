import type { CheckKey } from './checks.ts';
import type { Sql, Store } from './port.ts';
import type { LocationKeyOf } from './private-locations.ts';
import { jsonText } from './values.ts';

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

/** A replica of a release that reads credentials in clear alone is connected as this. */
const NAME_BEFORE = 'vedette';

/** Whether a release that cannot read encrypted credentials is at work on the database. */
export async function isReleaseBeforeConnected(store: Store): Promise<boolean> {
  // The embedded database has one process at a time.
  if (store.kind === 'pglite') return false;
  const rows = await store.query(
    `select from pg_stat_activity where datname = current_database() and application_name = $1 limit 1`,
    [NAME_BEFORE],
  );
  return rows.length > 0;
}

/** The checks that may have credentials, by account and id. */
export async function listCredentialChecks(
  sql: Sql,
  { after, limit }: CredentialsRange,
): Promise<readonly CheckKey[]> {
  const rows = await sql.query<{ account_id: string; id: string }>(
    `select account_id, id from checks
     where (account_id, id) > ($1, $2) and (sealed_variables is not null
       or body #>> '{request,url}' like '%@%'
       or jsonb_typeof(body #> '{request,basicAuth}') = 'object'
       or body #>> '{request,headers,0,key}' is not null)
     order by account_id, id limit $3::bigint`,
    [after?.accountId ?? '', after?.id ?? '', limit],
  );
  return rows.map(({ account_id: accountId, id }) => ({ accountId, id }));
}

/** Until the transaction ends, nobody else changes the check. */
export async function lockCheckCredentials(
  sql: Sql,
  { accountId, id }: CheckKey,
): Promise<CheckCredentials | null> {
  const [row] = await sql.query<{
    body: CheckCredentials['body'];
    sealed_variables: Buffer | null;
  }>('select body, sealed_variables from checks where account_id = $1 and id = $2 for update', [
    accountId,
    id,
  ]);
  return row === undefined ? null : { body: row.body, sealedVariables: row.sealed_variables };
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
): Promise<readonly LocationKeyOf[]> {
  const rows = await sql.query<{ account_id: string; id: string }>(
    `select account_id, id from private_locations
     where (account_id, id) > ($1, $2) and proxy_url like '%@%'
     order by account_id, id limit $3::bigint`,
    [after?.accountId ?? '', after?.id ?? '', limit],
  );
  return rows.map(({ account_id: accountId, id }) => ({ accountId, id }));
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

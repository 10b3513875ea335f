import type { Sql } from '../database/store.ts';

/** Names a request by the hash of the key that its sender chose. */
export interface RequestKey {
  readonly accountId: string;
  readonly sender: string;
  readonly key: string;
}

export interface StoredRequest {
  readonly requestHash: Buffer;
  readonly startedAt: Date;
  /** null while it is in progress. */
  readonly status: number | null;
  readonly location: string | null;
  readonly etag: string | null;
  /** null if it was not kept. */
  readonly body: Buffer | null;
  readonly isSealed: boolean;
}

/**
 * Stores that the request has begun. Replaces an expired or abandoned one.
 *
 * @param given `expiredBeforeMs` for completed requests, `abandonedBeforeMs` for those in progress
 * @returns false where the key is in use
 */
export async function insertRequest(
  sql: Sql,
  {
    accountId,
    sender,
    key,
    requestHash,
    atMs,
    expiredBeforeMs,
    abandonedBeforeMs,
  }: RequestKey & {
    readonly requestHash: Buffer;
    readonly atMs: number;
    readonly expiredBeforeMs: number;
    readonly abandonedBeforeMs: number;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into idempotency_keys as stored (account_id, sender, key, request_hash, started_at)
     values ($1, $2, $3, $4::bytea, $5::timestamptz)
     on conflict (account_id, sender, key) do update
       set request_hash = excluded.request_hash, started_at = excluded.started_at, status = null,
         location = null, etag = null, body = null, is_sealed = false
       where stored.started_at < $6::timestamptz
         or stored.status is null and stored.started_at < $7::timestamptz
     returning key`,
    [
      ...[accountId, sender, key, requestHash, new Date(atMs)],
      ...[new Date(expiredBeforeMs), new Date(abandonedBeforeMs)],
    ],
  );
  return rows.length > 0;
}

export async function findRequest(
  sql: Sql,
  { accountId, sender, key }: RequestKey,
): Promise<StoredRequest | null> {
  const [row] = await sql.query<StoredRequest & Record<string, unknown>>(
    `select request_hash, started_at, status, location, etag, body, is_sealed from idempotency_keys
     where account_id = $1 and sender = $2 and key = $3`,
    [accountId, sender, key],
  );
  return row ?? null;
}

/** Counts at most `limit`. */
export async function countRequests(
  sql: Sql,
  { accountId, limit }: { readonly accountId: string; readonly limit: number },
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from (select 1 from idempotency_keys where account_id = $1 limit $2::bigint) as used`,
    [accountId, limit],
  );
  return row?.count ?? 0;
}

/** Stores the response, unless another request has taken over the key. */
export async function completeRequest(
  sql: Sql,
  {
    accountId,
    sender,
    key,
    startedAtMs,
    status,
    location,
    etag,
    body,
    isSealed,
  }: RequestKey & {
    readonly startedAtMs: number;
    readonly status: number;
    readonly location: string | null;
    readonly etag: string | null;
    readonly body: Buffer | null;
    readonly isSealed: boolean;
  },
): Promise<void> {
  await sql.query(
    `update idempotency_keys
     set status = $5::int, location = $6, etag = $7, body = $8::bytea, is_sealed = $9::boolean
     where account_id = $1 and sender = $2 and key = $3 and started_at = $4::timestamptz`,
    [accountId, sender, key, new Date(startedAtMs), status, location, etag, body, isSealed],
  );
}

/** Frees the key of a request that changed nothing. */
export async function deleteRequest(
  sql: Sql,
  { accountId, sender, key, startedAtMs }: RequestKey & { readonly startedAtMs: number },
): Promise<void> {
  await sql.query(
    `delete from idempotency_keys
     where account_id = $1 and sender = $2 and key = $3 and started_at = $4::timestamptz`,
    [accountId, sender, key, new Date(startedAtMs)],
  );
}

/** Returns how many it deleted, `limit` at most. */
export async function deleteRequestsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from idempotency_keys where (account_id, sender, key) in (
       select account_id, sender, key from idempotency_keys
       where started_at < $1::timestamptz limit $2::bigint
     ) returning key`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

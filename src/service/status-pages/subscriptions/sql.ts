import type { AccountKey } from '../../database/account-key.ts';
import { readList } from '../../database/lists/lists.ts';
import type { AccountRange } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';

export type SubscriberKind = 'email' | 'webhook';

/** Names a status page. */
export interface PageKey {
  readonly accountId: string;
  readonly pageId: string;
}

export type StoredSubscriber = {
  readonly id: string;
  readonly kind: SubscriberKind;
  readonly sealed: Buffer;
  /** null for all services of the page. */
  readonly serviceIds: readonly string[] | null;
  readonly confirmedAt: Date | null;
  readonly bounces: number;
  readonly restedUntil: Date | null;
  readonly failingSince: Date | null;
  readonly createdAt: Date;
};

const COLUMNS = `id, kind, sealed, service_ids, confirmed_at, bounces, rested_until, failing_since,
  created_at`;

/**
 * Blocks new subscriptions to the page until the transaction ends.
 *
 * @returns how many have confirmed and how many have not; null if there is no such page
 */
export async function lockSubscribersOfPage(
  sql: Sql,
  { accountId, pageId }: PageKey,
): Promise<Readonly<Record<'confirmed' | 'unconfirmed', number>> | null> {
  const locked = await sql.query(
    'select id from status_pages where account_id = $1 and id = $2 for no key update',
    [accountId, pageId],
  );
  if (locked.length === 0) return null;
  const [row] = await sql.query<{ confirmed: number; unconfirmed: number }>(
    `select count(*) filter (where confirmed_at is not null) as confirmed,
       count(*) filter (where confirmed_at is null) as unconfirmed
     from status_page_subscribers where account_id = $1 and status_page_id = $2`,
    [accountId, pageId],
  );
  return row ?? { confirmed: 0, unconfirmed: 0 };
}

/** @param digests of the address by each key */
export async function findSubscriberByAddress(
  sql: Sql,
  { accountId, pageId, digests }: PageKey & { readonly digests: readonly Buffer[] },
): Promise<StoredSubscriber | null> {
  const digest = (_: Buffer, index: number): string => `$${index + 3}::bytea`;
  const [row] = await sql.query<StoredSubscriber>(
    `select ${COLUMNS} from status_page_subscribers
     where account_id = $1 and status_page_id = $2
       and address_digest in (${digests.map(digest).join(', ')})`,
    [accountId, pageId, ...digests],
  );
  return row ?? null;
}

export async function insertSubscriber(
  sql: Sql,
  subscriber: PageKey &
    Pick<StoredSubscriber, 'id' | 'kind' | 'sealed' | 'serviceIds'> & {
      readonly addressDigest: Buffer;
      readonly tokenHash: Buffer;
      readonly base: string;
      readonly confirmedAtMs: number | null;
      readonly createdAtMs: number;
    },
): Promise<void> {
  await sql.query(
    `insert into status_page_subscribers (account_id, status_page_id, id, kind, sealed,
       address_digest, token_hash, service_ids, base, confirmed_at, created_at)
     values ($1, $2, $3, $4, $5::bytea, $6::bytea, $7::bytea, $8::text[], $9, $10::timestamptz,
       $11::timestamptz)`,
    [
      subscriber.accountId,
      subscriber.pageId,
      subscriber.id,
      subscriber.kind,
      subscriber.sealed,
      subscriber.addressDigest,
      subscriber.tokenHash,
      subscriber.serviceIds,
      subscriber.base,
      subscriber.confirmedAtMs === null ? null : new Date(subscriber.confirmedAtMs),
      new Date(subscriber.createdAtMs),
    ],
  );
}

/** Changes only an unconfirmed subscriber: another person may have entered the address of a confirmed one. */
export async function renewUnconfirmed(
  sql: Sql,
  {
    accountId,
    id,
    serviceIds,
    base,
    createdAtMs,
  }: AccountKey &
    Pick<StoredSubscriber, 'serviceIds'> & {
      readonly base: string;
      readonly createdAtMs: number;
    },
): Promise<void> {
  await sql.query(
    `update status_page_subscribers
     set service_ids = $3::text[], base = $4, created_at = $5::timestamptz
     where account_id = $1 and id = $2 and confirmed_at is null`,
    [accountId, id, serviceIds, base, new Date(createdAtMs)],
  );
}

/** One token names one subscriber. */
export interface TokenOfPage extends PageKey {
  readonly tokenHash: Buffer;
  /** Unconfirmed subscribers that were created before have expired. Epoch milliseconds. */
  readonly unconfirmedSinceMs: number;
}

const BY_TOKEN = `account_id = $1 and status_page_id = $2 and token_hash = $3::bytea
       and (confirmed_at is not null or created_at >= $4::timestamptz)`;

function paramsOf({ accountId, pageId, tokenHash, unconfirmedSinceMs }: TokenOfPage) {
  return [accountId, pageId, tokenHash, new Date(unconfirmedSinceMs)];
}

export async function findSubscriberByToken(
  sql: Sql,
  token: TokenOfPage,
): Promise<StoredSubscriber | null> {
  const [row] = await sql.query<StoredSubscriber>(
    `select ${COLUMNS} from status_page_subscribers where ${BY_TOKEN}`,
    paramsOf(token),
  );
  return row ?? null;
}

/** Confirms the address, if nobody has yet. */
export async function confirmSubscriber(
  sql: Sql,
  { nowMs, ...token }: TokenOfPage & { readonly nowMs: number },
): Promise<StoredSubscriber | null> {
  const [row] = await sql.query<StoredSubscriber>(
    `update status_page_subscribers set confirmed_at = coalesce(confirmed_at, $5::timestamptz)
     where ${BY_TOKEN} returning ${COLUMNS}`,
    [...paramsOf(token), new Date(nowMs)],
  );
  return row ?? null;
}

export async function changeServicesOf(
  sql: Sql,
  { serviceIds, ...token }: TokenOfPage & Pick<StoredSubscriber, 'serviceIds'>,
): Promise<StoredSubscriber | null> {
  const [row] = await sql.query<StoredSubscriber>(
    `update status_page_subscribers set service_ids = $5::text[]
     where ${BY_TOKEN} returning ${COLUMNS}`,
    [...paramsOf(token), serviceIds],
  );
  return row ?? null;
}

export async function deleteSubscriberByToken(
  sql: Sql,
  { accountId, pageId, tokenHash }: Omit<TokenOfPage, 'unconfirmedSinceMs'>,
): Promise<void> {
  await sql.query(
    `delete from status_page_subscribers
     where account_id = $1 and status_page_id = $2 and token_hash = $3::bytea`,
    [accountId, pageId, tokenHash],
  );
}

/** Oldest first. */
export async function listSubscribers(
  sql: Sql,
  { accountId, pageId, ...range }: AccountRange & PageKey,
): Promise<readonly StoredSubscriber[]> {
  const list = {
    columns: COLUMNS,
    from: 'status_page_subscribers',
    where: 'account_id = $1 and status_page_id = $2',
    params: [accountId, pageId],
    order: 'n',
  };
  return readList<StoredSubscriber>(sql, list, range);
}

export async function findSubscriber(
  sql: Sql,
  { accountId, pageId, id }: PageKey & { readonly id: string },
): Promise<StoredSubscriber | null> {
  const [row] = await sql.query<StoredSubscriber>(
    `select ${COLUMNS} from status_page_subscribers
     where account_id = $1 and status_page_id = $2 and id = $3`,
    [accountId, pageId, id],
  );
  return row ?? null;
}

/** @returns whether there was one */
export async function deleteSubscriber(sql: Sql, { accountId, id }: AccountKey): Promise<boolean> {
  const rows = await sql.query(
    'delete from status_page_subscribers where account_id = $1 and id = $2 returning 1',
    [accountId, id],
  );
  return rows.length > 0;
}

/** @returns how many it deleted, at most the limit */
export async function deleteUnconfirmedBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from status_page_subscribers where (account_id, id) in (
       select account_id, id from status_page_subscribers
       where confirmed_at is null and created_at < $1::timestamptz
       limit $2::bigint for update skip locked)
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

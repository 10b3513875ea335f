import type { AccountKey } from '../../database/account-key.ts';
import type { Sql } from '../../database/store.ts';
import type { SubscriberKind } from './sql.ts';

/** A subscriber that another key encrypted. */
export type SealedSubscriber = {
  readonly accountId: string;
  readonly id: string;
  readonly n: number;
  readonly kind: SubscriberKind;
  readonly sealed: Buffer;
};

/** Subscribers of all accounts that another key than the named one encrypted, in the order of `n`. */
export async function listSealedByOthers(
  sql: Sql,
  {
    keyName,
    afterN,
    limit,
  }: { readonly keyName: string; readonly afterN: number; readonly limit: number },
): Promise<readonly SealedSubscriber[]> {
  return sql.query<SealedSubscriber>(
    `select account_id, id, n, kind, sealed from status_page_subscribers
     where n > $2::bigint and encode(substring(sealed from 2 for 8), 'hex') <> $1
     order by n limit $3::bigint`,
    [keyName, afterN, limit],
  );
}

/** Does nothing where the subscriber changed meanwhile. */
export async function resealSubscriber(
  sql: Sql,
  {
    accountId,
    id,
    before,
    sealed,
    addressDigest,
  }: AccountKey & {
    readonly before: Buffer;
    readonly sealed: Buffer;
    readonly addressDigest: Buffer;
  },
): Promise<void> {
  await sql.query(
    `update status_page_subscribers set sealed = $4::bytea, address_digest = $5::bytea
     where account_id = $1 and id = $2 and sealed = $3::bytea`,
    [accountId, id, before, sealed, addressDigest],
  );
}

import type { AccountKey } from '../../../database/account-key.ts';
import type { Sql } from '../../../database/store.ts';

/** Forgets the failures of a subscriber after a message arrived. */
export async function recordArrival(sql: Sql, { accountId, id }: AccountKey): Promise<void> {
  await sql.query(
    `update status_page_subscribers
     set bounces = 0, rested_until = null, failing_since = null, failures = 0
     where account_id = $1 and id = $2 and (bounces > 0 or failing_since is not null)`,
    [accountId, id],
  );
}

/** A subscriber whose last messages did not arrive. */
export type FailingSubscriber = {
  /** Messages in a row that the address refused. */
  readonly bounces: number;
  /** Messages that failed since the last one that arrived, refused ones too. */
  readonly failures: number;
  /** When the first of them failed. */
  readonly failingSince: Date;
};

/**
 * Counts a message that did not arrive because of its receiver.
 *
 * @param restedUntilMs set if the address refused the message permanently
 * @returns null if there is no such subscriber
 */
export async function recordFailure(
  sql: Sql,
  {
    accountId,
    id,
    atMs,
    restedUntilMs,
  }: AccountKey & { readonly atMs: number; readonly restedUntilMs: number | null },
): Promise<FailingSubscriber | null> {
  // The previous release sets failing_since without counting, also for failures of the service, and
  // forgets it without resetting the count.
  const [row] = await sql.query<FailingSubscriber>(
    `update status_page_subscribers
     set failing_since = case when failures = 0 then $3::timestamptz
         else coalesce(failing_since, $3::timestamptz) end,
       failures = case when failing_since is null then 0 else failures end + 1,
       bounces = bounces + case when $4::timestamptz is null then 0 else 1 end,
       rested_until = coalesce($4::timestamptz, rested_until)
     where account_id = $1 and id = $2
     returning bounces, failures, failing_since`,
    [accountId, id, new Date(atMs), restedUntilMs === null ? null : new Date(restedUntilMs)],
  );
  return row ?? null;
}

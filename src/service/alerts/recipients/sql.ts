import type { NoticePreferences } from '../../../model/alerting/notice-preferences.ts';
import type { Sql } from '../../database/store.ts';
import { CHANNEL_SUMMARY } from '../channels/channel-summary.sql.ts';
import { SUBSCRIBERS, SUBSCRIPTIONS } from '../channels/subscribers.sql.ts';
import type { DeliveryChannel } from '../delivery/sql.ts';

/** A channel with a subscription to a check, or to all. */
export type Recipient = NoticePreferences & {
  readonly channel: DeliveryChannel;
  /** Whether the subscription is activated. */
  readonly activated: boolean;
  /** Whether it is subscribed to this check by name: otherwise to all. */
  readonly isNamed: boolean;
};

/** The channels with a subscription to the check, in the order of their ids. */
export async function listRecipients(
  sql: Sql,
  {
    accountId,
    checkId,
    limit,
  }: { readonly accountId: string; readonly checkId: string; readonly limit: number },
): Promise<readonly Recipient[]> {
  return sql.query<Recipient>(
    `select ${CHANNEL_SUMMARY} as channel, s.activated, s.is_named, c.send_failure, c.send_recovery,
       c.send_degraded, c.send_location_silent, c.ssl_expiry, c.ssl_expiry_threshold
     from ${SUBSCRIPTIONS} s
     join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
     where s.account_id = $1 and s.check_id = $2
     order by c.id limit $3::bigint`,
    [accountId, checkId, limit],
  );
}

/** The channels that exist, in the order of their ids. */
export async function listChannels(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] },
): Promise<readonly DeliveryChannel[]> {
  const rows = await sql.query<{ channel: DeliveryChannel }>(
    `select ${CHANNEL_SUMMARY} as channel from alert_channels c
     where c.account_id = $1 and c.id = any($2::bigint[]) order by c.id`,
    [accountId, ids],
  );
  return rows.map(({ channel }) => channel);
}

/** The ids of the checks of whose failures no channel is notified. */
export async function listChecksWithoutRecipients(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly string[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `select given.id from unnest($2::text[]) as given (id)
     where not exists (select from ${SUBSCRIBERS} s
       join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
       where s.account_id = $1 and s.check_id = given.id and c.send_failure)`,
    [accountId, checkIds],
  );
  return rows.map(({ id }) => id);
}

export async function countRecipients(
  sql: Sql,
  { accountId, checkId }: { readonly accountId: string; readonly checkId: string },
): Promise<number> {
  const [row] = await sql.query<{ total: number }>(
    `select count(*) as total from ${SUBSCRIPTIONS} s where account_id = $1 and check_id = $2`,
    [accountId, checkId],
  );
  return row?.total ?? 0;
}

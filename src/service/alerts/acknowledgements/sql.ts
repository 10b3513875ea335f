import type { Sql } from '../../database/store.ts';
import { DIGEST_KEY } from '../bundling/bundle-key.ts';
import { CHANNEL_SUMMARY } from '../channels/channel-summary.sql.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import { SHOWN_STATE } from '../delivery/shown-state.sql.ts';

/** The email of a user or the name of an API key; null if there is none. */
export async function nameOfPrincipal(
  sql: Sql,
  {
    accountId,
    kind,
    id,
  }: { readonly accountId: string; readonly kind: 'user' | 'key'; readonly id: string },
): Promise<string | null> {
  const [row] = await sql.query<{ name: string | null }>(
    `select case $2::text when 'user' then (select email from users where id = $3)
       else (select name from api_keys where account_id = $1 and id = $3) end as name`,
    [accountId, kind, id],
  );
  return row?.name ?? null;
}

/**
 * The name of a channel for people; null if it does not exist. Slack channels are named by their id: all have the same
 * host.
 */
export async function nameOfChannel(
  sql: Sql,
  { accountId, channelId }: { readonly accountId: string; readonly channelId: number },
): Promise<string | null> {
  const [row] = await sql.query<{ name: string | null }>(
    `select case c.type when 'SLACK' then 'Slack channel ' || c.id
       else ${CHANNEL_SUMMARY} ->> 'name' end as name from alert_channels c
     where c.account_id = $1 and c.id = $2::bigint`,
    [accountId, channelId],
  );
  return row === undefined ? null : (row.name ?? '');
}

/** A channel with a delivery of an alert. */
export type ChannelWithDelivery = {
  readonly alertId: string;
  readonly channelId: number;
  /** Whether its next digest will contain the alert: it has not been notified yet. */
  readonly isInDigest: boolean;
};

/** The channels that have a delivery of these alerts: one that was sent, or is to be sent. */
export function listChannelsWithDelivery(
  sql: Sql,
  { accountId, alertIds }: { readonly accountId: string; readonly alertIds: readonly string[] },
): Promise<readonly ChannelWithDelivery[]> {
  return sql.query<ChannelWithDelivery>(
    `select d.alert_id, d.channel_id,
       bool_and(d.state = 'waiting' and d.bundle_key is not distinct from $3) as is_in_digest
     from alert_deliveries d
     where d.account_id = $1 and d.alert_id = any($2::text[]) and ${SHOWN_STATE} <> 'failed'
     group by d.alert_id, d.channel_id order by d.channel_id`,
    [accountId, alertIds, DIGEST_KEY],
  );
}

/** The channels that exist. Until the transaction ends, none of them is deleted. */
export function lockChannels(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] },
): Promise<readonly Omit<ChannelSubscriber, 'checkId'>[]> {
  return sql.query<Omit<ChannelSubscriber, 'checkId'>>(
    `select c.id as channel_id, c.send_failure, c.send_recovery, c.send_degraded,
       c.send_location_silent, c.ssl_expiry, c.ssl_expiry_threshold,
       c.group_by, c.group_window, c.degraded_digest_hour, a.time_zone
     from alert_channels c join accounts a on a.id = c.account_id
     where c.account_id = $1 and c.id = any($2::bigint[])
     order by c.id for key share of c`,
    [accountId, ids],
  );
}

/** The account of an alert, by the id of the alert alone, and its time zone; null if the alert does not exist. */
export async function accountOfAlert(
  sql: Sql,
  id: string,
): Promise<{ readonly accountId: string; readonly timeZone: string } | null> {
  const [row] = await sql.query<{ accountId: string; timeZone: string }>(
    `select a.id as account_id, a.time_zone from check_alerts c join accounts a on a.id = c.account_id
     where c.id = $1`,
    [id],
  );
  return row ?? null;
}

import type { PublicTarget } from '../../../model/alerting/alert-channel.ts';
import type { ChannelBundling } from '../../../model/alerting/channel-bundling.ts';
import type { NoticePreferences } from '../../../model/alerting/notice-preferences.ts';
import type { Sql } from '../../database/store.ts';
import { SUBSCRIBERS, SUBSCRIPTIONS } from './subscribers.sql.ts';

/** A subscription of a channel to a check. The channel receives its notices while it is activated. */
export type ChannelSubscription = {
  readonly checkId: string;
  readonly channelId: number;
  readonly activated: boolean;
};

/** Only of checks and channels that the transaction locks, and at most one of each pair. */
export async function insertSubscriptions(
  sql: Sql,
  {
    accountId,
    subscriptions,
  }: { readonly accountId: string; readonly subscriptions: readonly ChannelSubscription[] },
): Promise<void> {
  if (subscriptions.length === 0) return;
  await sql.query(
    `insert into alert_subscriptions (account_id, check_id, channel_id, activated)
     select $1, check_id, channel_id, activated
     from unnest($2::text[], $3::bigint[], $4::boolean[]) as given (check_id, channel_id, activated)`,
    [
      accountId,
      subscriptions.map(({ checkId }) => checkId),
      subscriptions.map(({ channelId }) => channelId),
      subscriptions.map(({ activated }) => activated),
    ],
  );
}

export async function deleteSubscriptionsOfCheck(
  sql: Sql,
  { accountId, checkId }: { readonly accountId: string; readonly checkId: string },
): Promise<void> {
  await sql.query('delete from alert_subscriptions where account_id = $1 and check_id = $2', [
    accountId,
    checkId,
  ]);
}

export async function deleteSubscriptionsOfChannel(
  sql: Sql,
  { accountId, channelId }: { readonly accountId: string; readonly channelId: number },
): Promise<void> {
  await sql.query(
    'delete from alert_subscriptions where account_id = $1 and channel_id = $2::bigint',
    [accountId, channelId],
  );
}

/** Ordered by channel, then by check. */
export async function subscriptionsOfChannels(
  sql: Sql,
  { accountId, channelIds }: { readonly accountId: string; readonly channelIds: readonly number[] },
): Promise<readonly ChannelSubscription[]> {
  if (channelIds.length === 0) return [];
  return sql.query<ChannelSubscription>(
    `select check_id, channel_id, activated from alert_subscriptions
     where account_id = $1 and channel_id = any($2::bigint[])
     order by channel_id, check_id`,
    [accountId, channelIds],
  );
}

/**
 * Locks checks until the transaction ends. Call it before the lock of the channel: changes of checks
 * lock in this order, too.
 *
 * @returns the ids of the checks that exist
 */
export async function lockSubscribedChecks(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly string[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `select id from checks where account_id = $1 and id = any($2::text[])
     order by id for key share`,
    [accountId, checkIds],
  );
  return rows.map(({ id }) => id);
}

export type SubscribedChannel = ChannelSubscription & {
  /** Whether it is a subscription of its own: else the channel has `subscribeAll`. */
  readonly isNamed: boolean;
  /** null if the subscription is not activated, or the targets before it take too many bytes. */
  readonly target: PublicTarget | null;
};

/** The assumed compression ratio of configs in the database. Those of usual webhooks have less. */
const COMPRESSION = 8;

/**
 * The subscriptions of checks with their channels, ordered by check, then by channel.
 *
 * @param targetBytes the most bytes of targets for each check. Longer targets are not read: the first sum estimates
 *   them by their stored size
 */
export async function channelsOfChecks(
  sql: Sql,
  {
    accountId,
    checkIds,
    targetBytes,
  }: {
    readonly accountId: string;
    readonly checkIds: readonly string[];
    readonly targetBytes: number;
  },
): Promise<readonly SubscribedChannel[]> {
  if (checkIds.length === 0) return [];
  return sql.query<SubscribedChannel>(
    `with subscribed as (
       select s.check_id, s.channel_id, s.activated, s.is_named,
         sum(pg_column_size(c.config) *
             case when pg_column_compression(c.config) is null then 1 else ${COMPRESSION} end)
           filter (where s.activated)
           over (partition by s.check_id order by s.channel_id) as stored_bytes
       from ${SUBSCRIPTIONS} s
       join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
       where s.account_id = $1 and s.check_id = any($2::text[])
     ), measured as (
       select s.check_id, s.channel_id, s.activated, s.is_named, c.type, c.config,
         sum(octet_length(c.config::text))
           over (partition by s.check_id order by s.channel_id) as bytes
       from subscribed s left join alert_channels c
         on c.account_id = $1 and c.id = s.channel_id and s.activated and s.stored_bytes <= $3
     )
     select check_id, channel_id, activated, is_named, case when type is not null and bytes <= $3
       then jsonb_build_object('type', type, 'config', config) end as target
     from measured order by check_id, channel_id`,
    [accountId, checkIds, targetBytes],
  );
}

/** A channel that is notified of a check, and the notices it wants. */
export type ChannelSubscriber = NoticePreferences &
  Partial<ChannelBundling> & {
    readonly checkId: string;
    readonly channelId: number;
    /** Whether it has a subscription of its own to the check: else to all. Default: it has. */
    readonly isNamed?: boolean;
    /** The account's. Default: UTC. */
    readonly timeZone?: string;
  };

/** Until the transaction ends, none of these channels is deleted. */
export async function lockSubscribedChannels(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly ChannelSubscriber[]> {
  if (checkIds.length === 0) return [];
  return sql.query<ChannelSubscriber>(
    `select s.check_id, s.channel_id, s.is_named, c.send_failure, c.send_recovery, c.send_degraded,
       c.send_location_silent, c.ssl_expiry, c.ssl_expiry_threshold,
       c.group_by, c.group_window, c.degraded_digest_hour, a.time_zone
     from ${SUBSCRIBERS} s
     join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
     join accounts a on a.id = s.account_id
     where s.account_id = $1 and s.check_id = any($2::text[])
     order by s.channel_id, s.check_id
     for key share of c`,
    [accountId, checkIds],
  );
}

/** The certificate end of a check that a channel was last notified of. */
export interface CertificateNotice {
  readonly checkId: string;
  readonly channelId: number;
  /** Epoch milliseconds, exact to a day. */
  readonly endsAtMs: number;
}

export async function listCertificateNotices(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly CertificateNotice[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<{ checkId: string; channelId: number; endsAt: Date }>(
    `select check_id, channel_id, ends_at from alert_ssl_told
     where account_id = $1 and check_id = any($2::text[])`,
    [accountId, checkIds],
  );
  return rows.map(({ endsAt, ...row }) => ({ ...row, endsAtMs: endsAt.getTime() }));
}

/** @param notices at most one for each check and channel */
export async function saveCertificateNotices(
  sql: Sql,
  {
    accountId,
    notices,
  }: { readonly accountId: string; readonly notices: readonly CertificateNotice[] },
): Promise<void> {
  if (notices.length === 0) return;
  await sql.query(
    `insert into alert_ssl_told (account_id, check_id, channel_id, ends_at)
     select $1, check_id, channel_id, ends_at
     from unnest($2::text[], $3::bigint[], $4::timestamptz[]) as given (check_id, channel_id, ends_at)
     on conflict (account_id, check_id, channel_id) do update set ends_at = excluded.ends_at`,
    [
      accountId,
      notices.map(({ checkId }) => checkId),
      notices.map(({ channelId }) => channelId),
      notices.map(({ endsAtMs }) => new Date(endsAtMs)),
    ],
  );
}

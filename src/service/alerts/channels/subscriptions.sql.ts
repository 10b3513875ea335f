import type { ChannelWishes, OpenTarget } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/port.ts';

/** That a channel hears of a check, or for the time being does not. */
export interface Subscription {
  readonly checkId: string;
  readonly channelId: number;
  readonly activated: boolean;
}

type SubscriptionRow = {
  readonly checkId: string;
  readonly channelId: number;
  readonly activated: boolean;
};

interface SubscriptionsOf {
  readonly accountId: string;
  readonly subscriptions: readonly Subscription[];
}

function subscriptionOf(row: SubscriptionRow): Subscription {
  return { checkId: row.checkId, channelId: row.channelId, activated: row.activated };
}

/** Only of checks and channels that the transaction holds, and none of them twice. */
export async function insertSubscriptions(
  sql: Sql,
  { accountId, subscriptions }: SubscriptionsOf,
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

/** By channel, then by check. */
export async function subscriptionsOfChannels(
  sql: Sql,
  { accountId, channelIds }: { readonly accountId: string; readonly channelIds: readonly number[] },
): Promise<readonly Subscription[]> {
  if (channelIds.length === 0) return [];
  const rows = await sql.query<SubscriptionRow>(
    `select check_id, channel_id, activated from alert_subscriptions
     where account_id = $1 and channel_id = any($2::bigint[])
     order by channel_id, check_id`,
    [accountId, channelIds],
  );
  return rows.map(subscriptionOf);
}

/**
 * Until the transaction ends, those of these checks that there are stay, and their own changes wait:
 * to be taken before the channel whose subscriptions change, as changes of checks do.
 *
 * @returns their ids
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

/** A subscription with where it leads. */
export interface SubscribedChannel extends Subscription {
  readonly target: OpenTarget;
}

/** By check, then by channel. */
export async function channelsOfChecks(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly SubscribedChannel[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<SubscriptionRow & OpenTarget>(
    `select s.check_id, s.channel_id, s.activated, c.type, c.config
     from alert_subscriptions s
     join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
     where s.account_id = $1 and s.check_id = any($2::text[])
     order by s.check_id, s.channel_id`,
    [accountId, checkIds],
  );
  return rows.map((row) => ({ ...subscriptionOf(row), target: row }));
}

/** What an active subscriber of a check wants to hear. */
export interface Listener extends ChannelWishes {
  readonly checkId: string;
  readonly channelId: number;
}

type ListenerRow = {
  readonly checkId: string;
  readonly channelId: number;
  readonly sendFailure: boolean;
  readonly sendRecovery: boolean;
  readonly sendDegraded: boolean;
  readonly sslExpiry: boolean;
  readonly sslExpiryThreshold: number;
};

/** The channels that hear of the checks now. Until the transaction ends, none of them is deleted. */
export async function lockListeningChannels(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly Listener[]> {
  if (checkIds.length === 0) return [];
  const rows = await sql.query<ListenerRow>(
    `select s.check_id, s.channel_id, c.send_failure, c.send_recovery, c.send_degraded,
       c.ssl_expiry, c.ssl_expiry_threshold
     from alert_subscriptions s
     join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
     where s.account_id = $1 and s.check_id = any($2::text[]) and s.activated
     order by s.channel_id, s.check_id
     for key share of c`,
    [accountId, checkIds],
  );
  return rows.map((row) => ({
    checkId: row.checkId,
    channelId: row.channelId,
    sendFailure: row.sendFailure,
    sendRecovery: row.sendRecovery,
    sendDegraded: row.sendDegraded,
    sslExpiry: row.sslExpiry,
    sslExpiryThreshold: row.sslExpiryThreshold,
  }));
}

/** Of which certificate's end a channel was last told. */
export interface CertificateNotice {
  readonly checkId: string;
  readonly channelId: number;
  /** Epoch milliseconds, true to a day. */
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
  return rows.map((row) => ({
    checkId: row.checkId,
    channelId: row.channelId,
    endsAtMs: row.endsAt.getTime(),
  }));
}

/** None of a check and a channel twice. */
export async function saveCertificateNotices(
  sql: Sql,
  { accountId, told }: { readonly accountId: string; readonly told: readonly CertificateNotice[] },
): Promise<void> {
  if (told.length === 0) return;
  await sql.query(
    `insert into alert_ssl_told (account_id, check_id, channel_id, ends_at)
     select $1, check_id, channel_id, ends_at
     from unnest($2::text[], $3::bigint[], $4::timestamptz[]) as given (check_id, channel_id, ends_at)
     on conflict (account_id, check_id, channel_id) do update set ends_at = excluded.ends_at`,
    [
      accountId,
      told.map(({ checkId }) => checkId),
      told.map(({ channelId }) => channelId),
      told.map(({ endsAtMs }) => new Date(endsAtMs)),
    ],
  );
}

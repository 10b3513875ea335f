import type {
  AlertChannel,
  MessageTemplates,
  PublicTarget,
} from '../../../model/alerting/alert-channel.ts';
import type { ChannelBundling } from '../../../model/alerting/channel-bundling.ts';
import type { NoticePreferences } from '../../../model/alerting/notice-preferences.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { NUMBER_ID, readList } from '../../database/lists/lists.ts';
import { type AccountRange, bytesOf, type PageEntry } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';
import { StoreError } from '../../database/store-errors.ts';
import { jsonText } from '../../database/values.ts';

/** A channel without its subscriptions, which have a table of their own. */
export type ChannelFields = PublicTarget &
  NoticePreferences &
  MessageTemplates &
  ChannelBundling &
  Pick<AlertChannel, 'sendMonitoringProblems' | 'subscribeAll' | 'logicalId'>;

/** A channel's target with its secrets, encrypted. */
export type SealedTarget = {
  readonly target: PublicTarget;
  /** null if it has none. */
  readonly sealedSecrets: Buffer | null;
};

export interface StoredChannel {
  readonly id: number;
  readonly fields: ChannelFields;
  /** null if it has none. */
  readonly sealedSecrets: Buffer | null;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
}

type ChannelRow = Omit<StoredChannel, 'fields'> & ChannelFields;

const COLUMNS = `id, type, config, sealed_secrets, send_failure, send_recovery, send_degraded,
  send_location_silent, send_monitoring_problems, ssl_expiry, ssl_expiry_threshold, group_by,
  group_window, degraded_digest_hour, subscribe_all, title_template, text_template, logical_id,
  created_at, updated_at`;

function channelOf(row: ChannelRow): StoredChannel {
  const { id, sealedSecrets, createdAt, updatedAt, ...fields } = row;
  return { id, fields, sealedSecrets, createdAt, updatedAt };
}

type ChannelContent = Pick<StoredChannel, 'fields' | 'sealedSecrets'>;

function valuesOf({ fields, sealedSecrets }: ChannelContent): readonly unknown[] {
  return [
    jsonText(fields.config),
    fields.sendFailure,
    fields.sendRecovery,
    fields.sendDegraded,
    fields.sslExpiry,
    fields.sslExpiryThreshold,
    sealedSecrets,
    fields.sendLocationSilent,
    fields.logicalId,
    fields.subscribeAll,
    fields.titleTemplate,
    fields.textTemplate,
    fields.sendMonitoringProblems === null ? null : jsonText(fields.sendMonitoringProblems),
    fields.groupBy,
    fields.groupWindow,
    fields.degradedDigestHour,
  ];
}

/** For a new channel: its secrets are bound to its id before it is stored. */
export async function newChannelId(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ id: number }>(
    `select nextval(pg_get_serial_sequence('alert_channels', 'id')) as id`,
  );
  if (row === undefined) throw noRow();
  return row.id;
}

/** @param channel with an id of `newChannelId` */
export async function insertChannel(
  sql: Sql,
  {
    accountId,
    id,
    createdAtMs,
    ...content
  }: AccountKey<number> & ChannelContent & { readonly createdAtMs: number },
): Promise<StoredChannel> {
  const [row] = await sql.query<ChannelRow>(
    `insert into alert_channels (config, send_failure, send_recovery, send_degraded, ssl_expiry,
       ssl_expiry_threshold, sealed_secrets, send_location_silent, logical_id, subscribe_all,
       title_template, text_template, send_monitoring_problems, group_by, group_window,
       degraded_digest_hour, account_id, id, type, created_at, updated_at)
     values ($1::jsonb, $2::boolean, $3::boolean, $4::boolean, $5::boolean, $6::int, $7::bytea,
       $8::boolean, $9, $10::boolean, $11, $12, $13::jsonb, $14, $15::int, $16::int, $17,
       $18::bigint, $19, $20::timestamptz, null)
     returning ${COLUMNS}`,
    [...valuesOf(content), accountId, id, content.fields.type, new Date(createdAtMs)],
  );
  if (row === undefined) throw noRow();
  return channelOf(row);
}

function noRow(): StoreError {
  return new StoreError('internal', 'STORE_STATEMENT', 'a new row of alert_channels was not given');
}

/** Only for a channel that `lockChannel` locks. */
export async function updateChannel(
  sql: Sql,
  {
    accountId,
    id,
    updatedAtMs,
    ...content
  }: AccountKey<number> & ChannelContent & { readonly updatedAtMs: number },
): Promise<StoredChannel | null> {
  const [row] = await sql.query<ChannelRow>(
    `update alert_channels set config = $1::jsonb, send_failure = $2::boolean,
       send_recovery = $3::boolean, send_degraded = $4::boolean, ssl_expiry = $5::boolean,
       ssl_expiry_threshold = $6::int, sealed_secrets = $7::bytea, send_location_silent = $8::boolean,
       logical_id = $9, subscribe_all = $10::boolean,
       title_template = $11, text_template = $12, send_monitoring_problems = $13::jsonb,
       group_by = $14, group_window = $15::int, degraded_digest_hour = $16::int,
       updated_at = greatest($19::timestamptz, updated_at + interval '1 millisecond')
     where account_id = $17 and id = $18::bigint
     returning ${COLUMNS}`,
    [...valuesOf(content), accountId, id, new Date(updatedAtMs)],
  );
  return row === undefined ? null : channelOf(row);
}

export async function findChannel(
  sql: Sql,
  key: AccountKey<number>,
): Promise<StoredChannel | null> {
  return readChannel(sql, key, '');
}

/**
 * Until the transaction ends, nobody else changes the channel. Does not block notices to it or new
 * subscriptions.
 */
export async function lockChannel(
  sql: Sql,
  key: AccountKey<number>,
): Promise<StoredChannel | null> {
  return readChannel(sql, key, 'for no key update');
}

async function readChannel(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
  lock: '' | 'for no key update',
): Promise<StoredChannel | null> {
  const [row] = await sql.query<ChannelRow>(
    `select ${COLUMNS} from alert_channels where account_id = $1 and id = $2::bigint ${lock}`,
    [accountId, id],
  );
  return row === undefined ? null : channelOf(row);
}

/** About the size of a subscription in a list of channels. */
const SUBSCRIPTION_BYTES = 200;

/** The ids of a page of channels, oldest first. */
export async function listChannelEntries(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly PageEntry<number>[]> {
  const list = {
    columns: `id, ${bytesOf('config')} + coalesce(octet_length(title_template), 0)
       + coalesce(octet_length(text_template), 0) + ${SUBSCRIPTION_BYTES} * (
       select count(*) from alert_subscriptions s
       where s.account_id = c.account_id and s.channel_id = c.id) as bytes`,
    from: 'alert_channels c',
    where: 'account_id = $1',
    params: [accountId],
    order: 'id',
    id: NUMBER_ID,
  };
  return readList<PageEntry<number>>(sql, list, range);
}

/** The channels that still exist, in the order of their ids. */
export async function findChannels(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] },
): Promise<readonly StoredChannel[]> {
  const rows = await sql.query<ChannelRow>(
    `select ${COLUMNS} from alert_channels where account_id = $1 and id = any($2::bigint[])
     order by array_position($2::bigint[], id)`,
    [accountId, ids],
  );
  return rows.map(channelOf);
}

/**
 * Locks channels of the account against deletion until the transaction ends.
 *
 * @param ids null for all channels without `subscribeAll`
 * @returns the ids of those that exist, in ascending order
 */
export async function lockChannelsShared(
  sql: Sql,
  { accountId, ids }: { readonly accountId: string; readonly ids: readonly number[] | null },
): Promise<readonly number[]> {
  if (ids !== null && ids.length === 0) return [];
  const rows = await sql.query<{ id: number }>(
    `select id from alert_channels
     where account_id = $1
       and (id = any($2::bigint[]) or ($2::bigint[] is null and not subscribe_all))
     order by id for key share`,
    [accountId, ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes its subscriptions and deliveries, too.
 *
 * @returns whether it existed
 */
export async function deleteChannel(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<void> {
  await sql.query('delete from alert_channels where account_id = $1 and id = $2::bigint', [
    accountId,
    id,
  ]);
}

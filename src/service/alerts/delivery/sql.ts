import type { AlertType } from '../../../model/alerting/alert.ts';
import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import { readList } from '../../database/lists/lists.ts';
import type { AccountRange } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';
import { DIGEST_KEY } from '../bundling/bundle-key.ts';
import { CARRIED_LEASE } from '../bundling/bundles.sql.ts';
import { CHANNEL_SUMMARY } from '../channels/channel-summary.sql.ts';
import type { AlertNotice, NotifiedBy } from '../notice.ts';
import { SHOWN_STATE } from './shown-state.sql.ts';

/** Notified whenever a delivery is stored. */
export const NOTICES_CHANNEL = 'vedette_notices';

export type DeliveryState = 'waiting' | 'sending' | 'sent' | 'failed';

/** A notice to one channel, which is sent after the check's earlier notices to the channel. */
export interface NewDelivery {
  readonly id: string;
  readonly channelId: number;
  /** Or the id of a location or of a problem of monitoring itself. */
  readonly checkId: string;
  readonly alertId: string;
  readonly alertType: AlertType;
  readonly reminder: number;
  readonly notice: object;
  /** The key that it shares with the others of one message; left out if it is a message by itself. */
  readonly bundleKey?: string;
  /** When it may be sent; epoch milliseconds. Default: at once. */
  readonly dueAtMs?: number;
}

/**
 * Stores deliveries in the given order, which for each check and channel is the order of sending.
 * Skips those that are stored already. A delivery for a digest waits until `digest_at`. The previous release does not
 * know that column: it sends the delivery at once, and the check's later notices after it.
 */
export async function insertDeliveries(
  sql: Sql,
  {
    accountId,
    deliveries,
    atMs,
  }: {
    readonly accountId: string;
    readonly deliveries: readonly NewDelivery[];
    readonly atMs: number;
  },
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql.query(
    `with added as (
       insert into alert_deliveries (account_id, id, channel_id, check_id, alert_id, alert_type,
         reminder, notice, bundle_key, due_at, digest_at, created_at)
       select $1, id, "channelId", "checkId", "alertId", "alertType", reminder, notice,
         "bundleKey", coalesce(case when "bundleKey" is distinct from $5 then due end, $3::timestamptz),
         case when "bundleKey" = $5 then due end, $3::timestamptz
       from rows from (jsonb_to_recordset($2::jsonb) as (id text, "channelId" bigint,
         "checkId" text, "alertId" text, "alertType" text, reminder integer, notice jsonb,
         "bundleKey" text, "dueAtMs" float8))
         with ordinality as given (id, "channelId", "checkId", "alertId", "alertType", reminder,
           notice, "bundleKey", "dueAtMs", number)
         cross join lateral to_timestamp("dueAtMs" / 1000) as due
       order by number
       on conflict do nothing
       returning id
     )
     select pg_notify($4, '')::text from added limit 1`,
    [accountId, jsonText(deliveries), new Date(atMs), NOTICES_CHANNEL, DIGEST_KEY],
  );
}

/** The name and type by which people recognise a channel. */
export interface DeliveryChannel {
  readonly id: number;
  readonly type: AlertChannelType;
  readonly name: string;
}

/** One row of the log. */
export type StoredDelivery = {
  readonly id: string;
  readonly channel: DeliveryChannel;
  readonly checkId: string;
  /** The name of the check at that time, or the subject of a location or problem. */
  readonly checkName: string;
  /** The slug of the location that the notice is about, if it is about no check. */
  readonly location: string | null;
  /** The problem of monitoring itself that it is about. */
  readonly problem: NonNullable<AlertNotice['problem']> | null;
  /** For the notice of an acknowledgement: whether it was undone; null for other notices. */
  readonly isUndone: boolean | null;
  /** Minutes without acknowledgement after which the channel was notified; null for other notices. */
  readonly escalatedAfterMinutes: number | null;
  /** null for notices that go by other rules, and for those of earlier releases. */
  readonly notifiedBy: NotifiedBy | null;
  /** How many other notices the same message contains. */
  readonly carriedWith: number;
  /** The message that it waits for; null for none. */
  readonly waitsFor: 'GROUP' | 'DIGEST' | null;
  readonly alertId: string;
  readonly alertType: AlertType;
  readonly reminder: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAnswer: string | null;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  /** Only of `waiting`. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
};

/** Selects what the log shows of a stored delivery `d`. */
const LOG_COLUMNS = `id, check_id, coalesce(notice #>> '{location,slug}', notice #>> '{problem,subject,slug}') as location,
  notice -> 'problem' as problem, (notice #>> '{acknowledgement,isUndone}')::boolean as is_undone,
  (notice ->> 'escalatedAfterMinutes')::int as escalated_after_minutes, alert_id, alert_type,
  notice #>> '{check,name}' as check_name, notice ->> 'notifiedBy' as notified_by,
  case when state = 'waiting' and attempts = 0 and bundle_key is not null
    then case bundle_key when '${DIGEST_KEY}' then 'DIGEST' else 'GROUP' end end as waits_for,
  reminder, ${SHOWN_STATE} as state, attempts, last_status, last_error,
  last_answer, created_at, last_attempt_at,
  case when state = 'waiting' then greatest(due_at, digest_at) end as next_attempt_at, finished_at, (
    select ${CHANNEL_SUMMARY}
    from alert_channels c
    where c.account_id = d.account_id and c.id = d.channel_id
  ) as channel`;

/**
 * The log of a page of stored rows. Counts the notices of each message once, not for each of its rows: there may be
 * thousands.
 */
function logOf(page: string, order: string, keys: string): string {
  return `with page as (${page}),
    messages as materialized (
      select carrier_id, (
        select count(*)::int from alert_deliveries carried where carried.bundle_id = carrier_id
      ) as carried_with
      from (select distinct coalesce(bundle_id, id) as carrier_id from page) as carriers
    )
    select ${LOG_COLUMNS}, carried_with ${keys}
    from page d join messages on carrier_id = coalesce(bundle_id, id) ${order}`;
}

/** Lists the deliveries of a channel or of an alert, newest first. */
export async function listDeliveries(
  sql: Sql,
  {
    accountId,
    of,
    states,
    ...range
  }: AccountRange & {
    readonly of: { readonly channelId: number } | { readonly alertId: string };
    /** Empty for all. */
    readonly states: readonly DeliveryState[];
  },
): Promise<readonly StoredDelivery[]> {
  const [where, id] =
    'alertId' in of ? ['alert_id = $2', of.alertId] : ['channel_id = $2::bigint', of.channelId];
  const list = {
    columns: '*',
    from: 'alert_deliveries',
    where: `account_id = $1 and ${where}`,
    filter: `cardinality($3::text[]) = 0 or ${SHOWN_STATE} = any($3::text[])`,
    params: [accountId, id, states],
    order: 'seq desc',
    wrap: logOf,
  };
  return readList<StoredDelivery>(sql, list, range);
}

/** @returns null if the channel has no such delivery */
export async function findDelivery(
  sql: Sql,
  { accountId, channelId, id }: DeliveryKey,
): Promise<StoredDelivery | null> {
  const row = `select * from alert_deliveries
    where account_id = $1 and channel_id = $2::bigint and id = $3`;
  const params = [accountId, channelId, id];
  const [found] = await sql.query<StoredDelivery>(logOf(row, '', ''), params);
  return found ?? null;
}

export interface DeliveryKey {
  readonly accountId: string;
  readonly channelId: number;
  readonly id: string;
}

/**
 * Queues a finished delivery again, with all of its attempts, and with the others of its message. A delivery that was
 * in the message of another one is sent by itself.
 *
 * @returns whether there was one
 */
export async function restartDelivery(
  sql: Sql,
  { accountId, channelId, id, atMs }: DeliveryKey & { readonly atMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `with restarted as (
       update alert_deliveries
       set state = 'waiting', attempts = 0, due_at = $4::timestamptz, digest_at = null,
         finished_at = null, bundle_key = null, bundle_id = null,
         notice = notice - array['isRepeated', 'wasDelivered']
       where account_id = $1 and channel_id = $2::bigint and id = $3 and finished_at is not null
       returning id
     ), carried as (
       update alert_deliveries d
       set state = 'sending', attempts = 1, lease_until = ${CARRIED_LEASE}, finished_at = null
       from restarted where d.bundle_id = restarted.id and d.finished_at is not null
     )
     select pg_notify($5, '')::text from restarted`,
    [accountId, channelId, id, new Date(atMs), NOTICES_CHANNEL],
  );
  return rows.length > 0;
}

/**
 * Keeps the last notice to each channel of an ongoing problem of a check, a silent location or monitoring itself:
 * `pairsWithProblem` and `listChannelsWithAnyDelivery` find by it who is to be notified of the end.
 *
 * @returns how many finished deliveries it deleted, at most the limit
 */
export async function deleteDeliveriesBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from alert_deliveries where id = any (array(
       select d.id from alert_deliveries d where d.finished_at < $1::timestamptz
         and not (d.reminder = 0 and d.alert_type <> 'ALERT_SSL'
           and (exists (select from check_alert_states s
               where s.account_id = d.account_id and s.check_id = d.check_id and s.condition <> 'passing')
             or exists (select from monitoring_problems p
               where p.id = d.check_id and p.begun_at is not null)
             or exists (select from silent_locations l where l.location_id = d.check_id))
           and not exists (select from alert_deliveries n
             where n.account_id = d.account_id and n.check_id = d.check_id
               and n.channel_id = d.channel_id and n.reminder = 0 and n.alert_type <> 'ALERT_SSL'
               and n.seq > d.seq))
       order by d.finished_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

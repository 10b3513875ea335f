import type { AlertChannelType, MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';
import { bundledAfterClaim } from '../bundling/bundles.sql.ts';
import { CHANNEL_SUMMARY } from '../channels/channel-summary.sql.ts';
import type { SealedTarget } from '../channels/sql.ts';
import { hasNoneOfPair } from './check-channels.sql.ts';

/** A delivery that its owner may send until the lease ends. */
export type ClaimedDelivery = SealedTarget &
  MessageTemplates & {
    readonly id: string;
    readonly accountId: string;
    readonly channelId: number;
    readonly channel: { readonly type: AlertChannelType; readonly name: string };
    /** As the outbox stored it. */
    readonly notice: unknown;
    /** The account's time zone. */
    readonly timeZone: string;
    /** Counts from 1. */
    readonly attempt: number;
    /** The key that it shares with the others of one message; null if it is a message by itself. */
    readonly bundleKey: string | null;
    /** Whether its message lists other deliveries, too. */
    readonly isBundle: boolean;
  };

export interface Claim {
  readonly owner: string;
  readonly atMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** The most that may be sent at once to one channel, and for one account. */
  readonly perChannel: number;
  readonly perAccount: number;
  /** How much of each is reserved for deliveries other than repeats: `room` is part of `limit`. */
  readonly notForRepeats: {
    readonly room: number;
    readonly perChannel: number;
    readonly perAccount: number;
  };
  /** At most this many other deliveries go with the message of one. */
  readonly maxCarried: number;
  /** How many deliveries the owner is sending now, by the id of the channel and of the account. */
  readonly busyChannels: Readonly<Record<string, number>>;
  readonly busyAccounts: Readonly<Record<string, number>>;
}

/** Due deliveries that a statement scans, without those of busy channels. */
const SCANNED = 1000;
/** The same for repeats: as many as one process sends at once. */
const SCANNED_REPEATS = 100;

/**
 * Whether the delivery `d` is an open alert that is sent again (`repeatLastNotices`). As in the index
 * alert_deliveries_repeats: without it, each claim would read all notices that wait.
 */
const IS_REPEATED = "d.notice ? 'isRepeated'";

/**
 * A repeat that no later delivery of its check and channel waits for. A repeat with a later delivery behind it is
 * claimed like news, because the two must be sent in order.
 */
const IS_ONLY_REPEAT = `${IS_REPEATED} and ${hasNoneOfPair('d', '>')}`;

/**
 * New notices in the order in which they were made, then repeats in the order in which they came due. In the order of
 * seq, a slow receiver would never get the repeats of the newest alerts.
 */
const IN_ORDER = 'is_repeat, case when is_repeat then due_at end, seq';

/**
 * The first unfinished delivery of each check and channel, where it is due and the channel and account have room.
 *
 * @param where which of the deliveries `d`
 * @param kept the parameters with the room of a channel and of an account that is reserved for others
 */
function dueDeliveries(
  where: string,
  { isRepeat, limit, kept }: { isRepeat: boolean; limit: number; kept?: readonly [string, string] },
): string {
  const [perChannel, perAccount] = kept?.map((each) => ` - ${each}::int`) ?? ['', ''];
  return `select d.id, d.seq, d.account_id, d.channel_id, d.attempts, d.bundle_key, d.due_at,
      ${isRepeat} as is_repeat,
      $5::int${perChannel} - coalesce(($7::jsonb ->> d.channel_id::text)::int, 0) as room_in_channel,
      $6::int${perAccount} - coalesce(($8::jsonb ->> d.account_id)::int, 0) as room_in_account
    from alert_deliveries d
    where d.finished_at is null and greatest(d.due_at, d.digest_at) <= $1::timestamptz
      and d.bundle_id is null
      and (d.state = 'waiting' or d.lease_until < now())
      and coalesce(($7::jsonb ->> d.channel_id::text)::int, 0) < $5::int${perChannel}
      and coalesce(($8::jsonb ->> d.account_id)::int, 0) < $6::int${perAccount}
      and ${where}
      and ${hasNoneOfPair('d', '<')}
    order by greatest(d.due_at, d.digest_at), d.seq limit ${limit}`;
}

/**
 * Claims due deliveries, oldest first, and those whose lease has expired: only the first unfinished one of each check
 * and channel. Repeats come last, and some room is reserved for other deliveries, so that news does not wait for the
 * repeats of a slow receiver. Another process may claim a delivery after this statement began, which does not see the
 * new lease: `attempts` differs then.
 */
export async function claimDeliveries(sql: Sql, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  return sql.query<ClaimedDelivery>(
    `with news as materialized (
       ${dueDeliveries(`not (${IS_ONLY_REPEAT})`, { isRepeat: false, limit: SCANNED })}
     ), repeats as materialized (
       ${dueDeliveries(IS_ONLY_REPEAT, { isRepeat: true, limit: SCANNED_REPEATS, kept: ['$11', '$12'] })}
     ), due as (
       select * from news union all select * from repeats
     ), heads as (
       select distinct on (channel_id, coalesce(bundle_key, id)) due.*
       from due order by channel_id, coalesce(bundle_key, id), seq
     ), ranked as (
       select heads.*,
         row_number() over (partition by channel_id order by ${IN_ORDER}) as place_in_channel,
         row_number() over (partition by account_id order by ${IN_ORDER}) as place_in_account
       from heads
     ), chosen as (
       select id, attempts, is_repeat, row_number() over (order by ${IN_ORDER}) as place
       from ranked
       where place_in_channel <= room_in_channel and place_in_account <= room_in_account
     ), locked as (
       select d.id from alert_deliveries d join chosen on chosen.id = d.id
       -- Not by \`is null\`, for which an index of all unfinished rows could be read instead of that of the ids.
       where coalesce(d.finished_at, 'infinity') = 'infinity' and d.attempts = chosen.attempts
         and chosen.place <= $4::int - case when chosen.is_repeat then $10::int else 0 end
       for update of d skip locked
     ), claimed as (
       update alert_deliveries d
       set state = 'sending', attempts = d.attempts + 1, owner = $2,
         lease_until = now() + $3::float8 * interval '1 millisecond',
         last_attempt_at = $1::timestamptz
       from locked, alert_channels c, accounts a
       where a.id = d.account_id and d.id = locked.id and c.account_id = d.account_id and c.id = d.channel_id
       returning d.id, d.account_id, d.channel_id, c.sealed_secrets, d.notice, d.attempts as attempt,
         a.time_zone, c.title_template, c.text_template, d.bundle_key,
         jsonb_build_object('type', c.type, 'config', c.config) as target, ${CHANNEL_SUMMARY} as channel
     ), ${bundledAfterClaim('$1', '$9')}
     select claimed.*, exists (select from alert_deliveries m where m.bundle_id = claimed.id)
       or exists (select from candidates m where m.bundle_id = claimed.id) as is_bundle
     from claimed`,
    [
      new Date(claim.atMs),
      claim.owner,
      claim.leaseMs,
      claim.limit,
      claim.perChannel,
      claim.perAccount,
      jsonText(claim.busyChannels),
      jsonText(claim.busyAccounts),
      claim.maxCarried,
      claim.notForRepeats.room,
      claim.notForRepeats.perChannel,
      claim.notForRepeats.perAccount,
    ],
  );
}

/** When the next delivery comes due after `atMs`, epoch milliseconds; null for none. */
export async function nextDueAtMs(
  sql: Sql,
  { atMs }: { readonly atMs: number },
): Promise<number | null> {
  const rows = await sql.query<{ dueAt: Date }>(
    `select greatest(due_at, digest_at) as due_at from alert_deliveries
     where finished_at is null and state = 'waiting' and greatest(due_at, digest_at) > $1::timestamptz
     order by greatest(due_at, digest_at) limit 1`,
    [new Date(atMs)],
  );
  return rows[0]?.dueAt.getTime() ?? null;
}

import type { AlertType } from '../../../model/alerting/alert.ts';
import type { OpenTarget } from '../../../model/alerting/alert-channel.ts';
import type { Sql } from '../../database/port.ts';
import { jsonText, storableText } from '../../database/values.ts';
import type { SealedTarget } from '../channels/sql.ts';

/** Told whenever there is something to be sent. */
export const NOTICES_CHANNEL = 'vedette_notices';

export type DeliveryState = 'waiting' | 'sending' | 'sent' | 'failed';

/** A notice to one channel, to be sent as soon as what came before it to the channel is done. */
export interface NewDelivery {
  readonly id: string;
  readonly channelId: number;
  readonly checkId: string;
  readonly alertId: string;
  readonly alertType: AlertType;
  readonly reminder: number;
  readonly notice: object;
}

/** In the order given, which for each check and channel is the order of sending. Any that is there already stays as it is. */
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
         reminder, notice, due_at, created_at)
       select $1, id, "channelId", "checkId", "alertId", "alertType", reminder, notice,
         $3::timestamptz, $3::timestamptz
       from rows from (jsonb_to_recordset($2::jsonb) as (id text, "channelId" bigint,
         "checkId" text, "alertId" text, "alertType" text, reminder integer, notice jsonb))
         with ordinality as given (id, "channelId", "checkId", "alertId", "alertType", reminder,
           notice, number)
       order by number
       on conflict do nothing
       returning id
     )
     select pg_notify($4, '')::text from added limit 1`,
    [accountId, jsonText(deliveries), new Date(atMs), NOTICES_CHANNEL],
  );
}

/** Which of the checks have a notice to which of the channels that is not done. */
export async function unfinishedLanes(
  sql: Sql,
  {
    accountId,
    channelIds,
    checkIds,
  }: {
    readonly accountId: string;
    readonly channelIds: readonly number[];
    readonly checkIds: readonly string[];
  },
): Promise<readonly { readonly channelId: number; readonly checkId: string }[]> {
  const rows = await sql.query<{ channelId: number; checkId: string }>(
    `select channel.id as channel_id, given.id as check_id
     from unnest($2::bigint[]) as channel (id), unnest($3::text[]) as given (id)
     where exists (select from alert_deliveries d
       where d.account_id = $1 and d.channel_id = channel.id and d.check_id = given.id
         and d.finished_at is null)`,
    [accountId, channelIds, checkIds],
  );
  return rows.map((row) => ({ channelId: row.channelId, checkId: row.checkId }));
}

/** A delivery that its owner may send. */
export type ClaimedDelivery = SealedTarget & {
  readonly id: string;
  readonly accountId: string;
  readonly channelId: number;
  /** As it was put. */
  readonly notice: unknown;
  /** Counts from 1; this one is among them. */
  readonly attempt: number;
  readonly dueAtMs: number;
};

export interface Claim {
  readonly owner: string;
  readonly atMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** How many at once to one channel, and for one account. */
  readonly perChannel: number;
  readonly perAccount: number;
  /** How many the owner is sending now, by the id of the channel and of the account. */
  readonly busyChannels: Readonly<Record<string, number>>;
  readonly busyAccounts: Readonly<Record<string, number>>;
}

type ClaimedRow = {
  readonly id: string;
  readonly accountId: string;
  readonly channelId: number;
  readonly type: OpenTarget['type'];
  readonly config: OpenTarget['config'];
  readonly sealedSecrets: Buffer | null;
  readonly notice: unknown;
  readonly attempts: number;
  readonly dueAt: Date;
};

/** So many of those that are due are looked at. What a busy channel has waiting is not among them. */
const LOOKED_AT = 1000;

/**
 * Takes what is due, oldest first, and what somebody else took and did not end within its lease; of
 * a check's notices to a channel only the first that is not done. Somebody may have taken one since
 * the statement began, which sees no younger lease: its attempts have gone up then.
 */
export async function claimDeliveries(sql: Sql, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  const rows = await sql.query<ClaimedRow>(
    `with due as materialized (
       select d.id, d.seq, d.account_id, d.channel_id, d.attempts,
         $5::int - coalesce(($7::jsonb ->> d.channel_id::text)::int, 0) as room_in_channel,
         $6::int - coalesce(($8::jsonb ->> d.account_id)::int, 0) as room_in_account
       from alert_deliveries d
       where d.finished_at is null and d.due_at <= $1::timestamptz
         and (d.state = 'waiting' or d.lease_until < now())
         and coalesce(($7::jsonb ->> d.channel_id::text)::int, 0) < $5::int
         and coalesce(($8::jsonb ->> d.account_id)::int, 0) < $6::int
         and not exists (
           select from alert_deliveries before
           where before.account_id = d.account_id and before.channel_id = d.channel_id
             and before.check_id = d.check_id and before.finished_at is null
             and before.seq < d.seq)
       order by d.due_at, d.seq limit ${LOOKED_AT}
     ), ranked as (
       select due.*, row_number() over (partition by channel_id order by seq) as place_in_channel,
         row_number() over (partition by account_id order by seq) as place_in_account
       from due
     ), chosen as (
       select id, attempts from ranked
       where place_in_channel <= room_in_channel and place_in_account <= room_in_account
       order by seq limit $4::int
     ), locked as (
       select d.id from alert_deliveries d join chosen on chosen.id = d.id
       where d.finished_at is null and d.attempts = chosen.attempts
       for update of d skip locked
     )
     update alert_deliveries d
     set state = 'sending', attempts = d.attempts + 1, owner = $2,
       lease_until = now() + $3::float8 * interval '1 millisecond',
       last_attempt_at = $1::timestamptz
     from locked, alert_channels c
     where d.id = locked.id and c.account_id = d.account_id and c.id = d.channel_id
     returning d.id, d.account_id, d.channel_id, c.type, c.config, c.sealed_secrets,
       d.notice, d.attempts, d.due_at`,
    [
      new Date(claim.atMs),
      claim.owner,
      claim.leaseMs,
      claim.limit,
      claim.perChannel,
      claim.perAccount,
      jsonText(claim.busyChannels),
      jsonText(claim.busyAccounts),
    ],
  );
  return rows.map((row) => ({
    id: row.id,
    accountId: row.accountId,
    channelId: row.channelId,
    target: { type: row.type, config: row.config } as OpenTarget,
    sealedSecrets: row.sealedSecrets,
    notice: row.notice,
    attempt: row.attempts,
    dueAtMs: row.dueAt.getTime(),
  }));
}

/** Epoch milliseconds: when the next of those is due that are not yet; null where there is none. */
export async function nextDueAtMs(
  sql: Sql,
  { atMs }: { readonly atMs: number },
): Promise<number | null> {
  const rows = await sql.query<{ dueAt: Date }>(
    `select due_at from alert_deliveries
     where finished_at is null and state = 'waiting' and due_at > $1::timestamptz
     order by due_at limit 1`,
    [new Date(atMs)],
  );
  return rows[0]?.dueAt.getTime() ?? null;
}

/** What came of an attempt. */
export interface AttemptOutcome {
  readonly state: Exclude<DeliveryState, 'sending'>;
  /** Of `waiting`: when it is sent again. */
  readonly dueAtMs: number | null;
  /** Of HTTP or SMTP. */
  readonly status: number | null;
  readonly error: string | null;
  /** What the other side said, cut. */
  readonly answer: string | null;
}

/**
 * Only for whoever took that attempt, and has it still.
 *
 * @returns whether it was so
 */
export async function recordAttempt(
  sql: Sql,
  {
    id,
    owner,
    attempt,
    atMs,
    outcome,
  }: {
    readonly id: string;
    readonly owner: string;
    readonly attempt: number;
    readonly atMs: number;
    readonly outcome: AttemptOutcome;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `update alert_deliveries
     set state = $5, due_at = coalesce($6::timestamptz, due_at), last_status = $7::int,
       last_error = $8, last_answer = $9, owner = null, lease_until = null,
       finished_at = case when $5 = 'waiting' then null else $4::timestamptz end
     where id = $1 and owner = $2 and attempts = $3::int and state = 'sending'
     returning 1`,
    [
      id,
      owner,
      attempt,
      new Date(atMs),
      outcome.state,
      outcome.dueAtMs === null ? null : new Date(outcome.dueAtMs),
      outcome.status,
      outcome.error === null ? null : storableText(outcome.error),
      outcome.answer === null ? null : storableText(outcome.answer),
    ],
  );
  return rows.length > 0;
}

/** One row of the log. */
export interface StoredDelivery {
  readonly id: string;
  readonly checkId: string;
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
  /** When it is sent next; null where it is not waiting. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
}

type DeliveryRow = {
  readonly id: string;
  readonly checkId: string;
  readonly alertId: string;
  readonly alertType: AlertType;
  readonly reminder: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAnswer: string | null;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly finishedAt: Date | null;
};

/** Newest first. */
export async function listDeliveries(
  sql: Sql,
  {
    accountId,
    channelId,
    states,
    limit,
    offset,
  }: {
    readonly accountId: string;
    readonly channelId: number;
    /** None given, all. */
    readonly states: readonly DeliveryState[];
    readonly limit: number;
    readonly offset: number;
  },
): Promise<readonly StoredDelivery[]> {
  const rows = await sql.query<DeliveryRow>(
    `select id, check_id, alert_id, alert_type, reminder, state, attempts, due_at, last_status,
       last_error, last_answer, created_at, last_attempt_at, finished_at
     from alert_deliveries
     where account_id = $1 and channel_id = $2::bigint
       and (cardinality($3::text[]) = 0 or state = any($3::text[]))
     order by seq desc limit $4::bigint offset $5::bigint`,
    [accountId, channelId, states, limit, offset],
  );
  return rows.map((row) => ({
    id: row.id,
    checkId: row.checkId,
    alertId: row.alertId,
    alertType: row.alertType,
    reminder: row.reminder,
    state: row.state,
    attempts: row.attempts,
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    lastAnswer: row.lastAnswer,
    createdAt: row.createdAt,
    lastAttemptAt: row.lastAttemptAt,
    nextAttemptAt: row.state === 'waiting' ? row.dueAt : null,
    finishedAt: row.finishedAt,
  }));
}

/** Removes deliveries that ended before the instant, as many as the limit at most. */
export async function deleteDeliveriesBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from alert_deliveries where id = any (array(
       select id from alert_deliveries where finished_at < $1::timestamptz
       order by finished_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

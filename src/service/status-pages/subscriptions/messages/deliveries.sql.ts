import type { Sql } from '../../../database/store.ts';
import { jsonText } from '../../../database/values.ts';
import type { SubscriberKind } from '../sql.ts';
import { MESSAGES_CHANNEL } from './announcements.sql.ts';

/** Adds the mail that asks a subscriber to confirm the address. */
export async function insertConfirmation(
  sql: Sql,
  {
    id,
    accountId,
    subscriberId,
    atMs,
  }: {
    readonly id: string;
    readonly accountId: string;
    readonly subscriberId: string;
    readonly atMs: number;
  },
): Promise<void> {
  await sql.query(
    `with added as (
       insert into status_page_deliveries (id, account_id, subscriber_id, kind, due_at, created_at)
       values ($1, $2, $3, 'email', $4::timestamptz, $4::timestamptz)
       returning id
     )
     select pg_notify($5, '')::text from added`,
    [id, accountId, subscriberId, new Date(atMs), MESSAGES_CHANNEL],
  );
}

/** A message that its owner may send until the lease ends. */
export type ClaimedMessage = {
  readonly id: string;
  readonly accountId: string;
  readonly subscriberId: string;
  readonly kind: SubscriberKind;
  /** null for the mail that asks to confirm the address. */
  readonly updateId: string | null;
  /** Counts from 1. */
  readonly attempt: number;
  readonly createdAt: Date;
  readonly pageId: string;
  readonly pageName: string;
  readonly pageUrl: string;
  readonly customDomain: string | null;
  readonly sealed: Buffer;
  readonly base: string;
  readonly isConfirmed: boolean;
  /** Whether its last messages arrived. */
  readonly isHealthy: boolean;
};

export interface MessageClaim {
  readonly kind: SubscriberKind;
  readonly owner: string;
  readonly atMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  /** The most that may be sent at once for one account. */
  readonly perAccount: number;
  /** How many the owner sends now, by the id of the account. */
  readonly busyAccounts: Readonly<Record<string, number>>;
}

/** Due messages that a claim scans, not counting accounts at their limit. */
const SCANNED = 200;

/**
 * Claims due messages, oldest first, including those whose lease has expired. Claims only the first unfinished
 * message of each subscriber, like `claimDeliveries` of alerts.
 */
export async function claimMessages(
  sql: Sql,
  claim: MessageClaim,
): Promise<readonly ClaimedMessage[]> {
  return sql.query<ClaimedMessage>(
    `with due as materialized (
       select d.id, d.seq, d.account_id, d.attempts,
         $6::int - coalesce(($7::jsonb ->> d.account_id)::int, 0) as room
       from status_page_deliveries d
       where d.finished_at is null and d.kind = $1 and d.due_at <= $2::timestamptz
         and (d.state = 'waiting' or d.lease_until < now())
         and coalesce(($7::jsonb ->> d.account_id)::int, 0) < $6::int
         and not exists (
           select from status_page_deliveries before
           where before.account_id = d.account_id and before.subscriber_id = d.subscriber_id
             and before.finished_at is null and before.seq < d.seq)
       order by d.due_at, d.seq limit ${SCANNED}
     ), ranked as (
       select due.*, row_number() over (partition by account_id order by seq) as place from due
     ), chosen as (
       select id, attempts from ranked where place <= room order by seq limit $5::int
     ), locked as (
       select d.id from status_page_deliveries d join chosen on chosen.id = d.id
       where d.finished_at is null and d.attempts = chosen.attempts
       for update of d skip locked
     )
     update status_page_deliveries d
     set state = 'sending', attempts = d.attempts + 1, owner = $3,
       lease_until = now() + $4::float8 * interval '1 millisecond'
     from locked, status_page_subscribers s, status_pages p
     where d.id = locked.id and s.account_id = d.account_id and s.id = d.subscriber_id
       and p.account_id = s.account_id and p.id = s.status_page_id
     returning d.id, d.account_id, d.subscriber_id, d.kind, d.update_id, d.attempts as attempt,
       d.created_at, p.id as page_id, p.name as page_name, p.url as page_url, p.custom_domain,
       s.sealed, s.base, s.confirmed_at is not null as is_confirmed,
       s.bounces = 0 and s.failing_since is null as is_healthy`,
    [
      claim.kind,
      new Date(claim.atMs),
      claim.owner,
      claim.leaseMs,
      claim.limit,
      claim.perAccount,
      jsonText(claim.busyAccounts),
    ],
  );
}

/** When the next message of the kind comes due after `atMs`, epoch milliseconds; null for none. */
export async function nextMessageAtMs(
  sql: Sql,
  { kind, atMs }: { readonly kind: SubscriberKind; readonly atMs: number },
): Promise<number | null> {
  const rows = await sql.query<{ dueAt: Date }>(
    `select due_at from status_page_deliveries
     where finished_at is null and kind = $1 and state = 'waiting' and due_at > $2::timestamptz
     order by due_at limit 1`,
    [kind, new Date(atMs)],
  );
  return rows[0]?.dueAt.getTime() ?? null;
}

/**
 * Fails the waiting messages to an address that has refused an earlier message.
 *
 * @returns how many messages failed
 */
export async function failWaitingMessages(
  sql: Sql,
  {
    accountId,
    subscriberId,
    atMs,
  }: { readonly accountId: string; readonly subscriberId: string; readonly atMs: number },
): Promise<number> {
  const rows = await sql.query(
    `update status_page_deliveries
     set state = 'failed', last_error = 'the address refused an earlier message',
       finished_at = $3::timestamptz
     where account_id = $1 and subscriber_id = $2 and state = 'waiting'
     returning 1`,
    [accountId, subscriberId, new Date(atMs)],
  );
  return rows.length;
}

/** @returns how many finished messages it deleted, at most the limit */
export async function deleteMessagesBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from status_page_deliveries where id = any (array(
       select id from status_page_deliveries where finished_at < $1::timestamptz
       order by finished_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}

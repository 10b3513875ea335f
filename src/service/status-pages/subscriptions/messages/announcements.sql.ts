import type { AccountKey } from '../../../database/account-key.ts';
import type { Param, Sql } from '../../../database/store.ts';

/** Notified whenever something is to be sent to subscribers. */
export const MESSAGES_CHANNEL = 'vedette_subscriber_messages';

/**
 * Announces the updates that have `notifySubscribers`, in the transaction that stores them. Announces an
 * update once, however often it is called, and none of a draft.
 */
export async function announceUpdates(
  sql: Sql,
  {
    accountId,
    updateIds,
    atMs,
  }: {
    readonly accountId: string;
    readonly updateIds: readonly string[];
    readonly atMs: number;
  },
): Promise<void> {
  await announce(sql, 'u.id = any($2::text[])', [accountId, updateIds, new Date(atMs)]);
}

/** Announces all updates of a draft when it is published. */
export async function announceIncident(
  sql: Sql,
  { accountId, id, atMs }: AccountKey & { readonly atMs: number },
): Promise<void> {
  await announce(sql, 'u.incident_id = $2', [accountId, id, new Date(atMs)]);
}

function announce(sql: Sql, which: string, params: readonly Param[]): Promise<unknown> {
  return sql.query(
    `with added as (
       insert into status_page_announcements (account_id, update_id, created_at)
       select u.account_id, u.id, $3::timestamptz from status_page_incident_updates u
       join status_page_incidents i on i.account_id = u.account_id and i.id = u.incident_id
       where u.account_id = $1 and ${which} and u.notify_subscribers and not i.is_draft
       order by u.n
       on conflict do nothing
       returning update_id
     )
     select pg_notify($4, '')::text from added limit 1`,
    [...params, MESSAGES_CHANNEL],
  );
}

/** An announcement that this transaction works on. */
export type LockedAnnouncement = {
  readonly accountId: string;
  readonly updateId: string;
  readonly deliveredTo: number;
  readonly createdAt: Date;
};

/** The oldest unfinished announcement that no other transaction works on; null for none. */
export async function lockAnnouncement(sql: Sql): Promise<LockedAnnouncement | null> {
  const [row] = await sql.query<LockedAnnouncement>(
    `select account_id, update_id, delivered_to, created_at from status_page_announcements
     where finished_at is null order by n limit 1
     for update skip locked`,
  );
  return row ?? null;
}

/**
 * Creates the deliveries of an announcement to the next subscribers: those who confirmed before it, are not
 * suspended, and are subscribed to a service that the incident names on their page. Creates none if the update no
 * longer notifies subscribers.
 *
 * @returns how many subscribers were scanned, and the `n` of the last one
 */
export async function insertDeliveriesOf(
  sql: Sql,
  {
    accountId,
    updateId,
    deliveredTo,
    createdAt,
    atMs,
    limit,
  }: LockedAnnouncement & { readonly atMs: number; readonly limit: number },
): Promise<{ readonly found: number; readonly last: number }> {
  const [row] = await sql.query<{ found: number; last: number | null }>(
    `with affected as (
       select c.status_page_id, array_agg(distinct l.service_id) as service_ids
       from status_page_incident_updates u
       join status_page_incident_services s
         on s.account_id = u.account_id and s.incident_id = u.incident_id
       join status_page_card_services l
         on l.account_id = s.account_id and l.service_id = s.service_id
       join status_page_cards c on c.account_id = l.account_id and c.id = l.card_id
       where u.account_id = $1 and u.id = $2 and u.notify_subscribers
       group by c.status_page_id
     ), chosen as (
       select s.id, s.n, s.kind from affected a
       join status_page_subscribers s
         on s.account_id = $1 and s.status_page_id = a.status_page_id
       where s.n > $3::bigint and s.confirmed_at <= $6::timestamptz
         and (s.rested_until is null or s.rested_until <= $4::timestamptz)
         and (s.service_ids is null or s.service_ids && a.service_ids)
       order by s.n limit $5::int
     ), added as (
       insert into status_page_deliveries (id, account_id, subscriber_id, kind, update_id, due_at,
         created_at)
       select gen_random_uuid()::text, $1, id, kind, $2, $4::timestamptz, $4::timestamptz
       from chosen order by n
       on conflict do nothing
       returning id
     ), notified as materialized (
       -- Another worker may have to send them.
       select pg_notify($7, '')::text as done from added limit 1
     )
     select count(*) as found, max(n) as last, (select done from notified) as done from chosen`,
    [accountId, updateId, deliveredTo, new Date(atMs), limit, createdAt, MESSAGES_CHANNEL],
  );
  return { found: row?.found ?? 0, last: row?.last ?? deliveredTo };
}

/** Only for an announcement that `lockAnnouncement` locks. */
export async function advanceAnnouncement(
  sql: Sql,
  {
    accountId,
    updateId,
    deliveredTo,
    finishedAtMs,
  }: Omit<LockedAnnouncement, 'createdAt'> & {
    /** null while there are further subscribers. */
    readonly finishedAtMs: number | null;
  },
): Promise<void> {
  await sql.query(
    `update status_page_announcements set delivered_to = $3::bigint, finished_at = $4::timestamptz
     where account_id = $1 and update_id = $2`,
    [accountId, updateId, deliveredTo, finishedAtMs === null ? null : new Date(finishedAtMs)],
  );
}

/** The current data of an update that a message contains. */
export type AnnouncedUpdate = {
  readonly incidentId: string;
  readonly incidentName: string;
  readonly severity: string;
  readonly status: string;
  readonly description: string;
  readonly publicAt: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date;
  /** The affected services of the page, in the incident's order. */
  readonly services: readonly { readonly id: string; readonly name: string }[];
};

/** null if the update no longer notifies subscribers, or the page shows none of its services. */
export async function readAnnouncedUpdate(
  sql: Sql,
  {
    accountId,
    pageId,
    updateId,
  }: { readonly accountId: string; readonly pageId: string; readonly updateId: string },
): Promise<AnnouncedUpdate | null> {
  const [row] = await sql.query<AnnouncedUpdate>(
    `select i.id as incident_id, i.name as incident_name, i.severity, u.status, u.description,
       u.public_at, u.created_at, i.created_at as started_at, named.services
     from status_page_incident_updates u
     join status_page_incidents i on i.account_id = u.account_id and i.id = u.incident_id
     cross join lateral (
       select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name) order by l.position)
         as services
       from status_page_incident_services l
       join status_page_services s on s.account_id = l.account_id and s.id = l.service_id
       where l.account_id = u.account_id and l.incident_id = u.incident_id and exists (
         select from status_page_card_services o
         join status_page_cards c on c.account_id = o.account_id and c.id = o.card_id
         where o.account_id = l.account_id and o.service_id = l.service_id
           and c.status_page_id = $2)
     ) named
     where u.account_id = $1 and u.id = $3 and u.notify_subscribers
       and named.services is not null`,
    [accountId, pageId, updateId],
  );
  return row ?? null;
}

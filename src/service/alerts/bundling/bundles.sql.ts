import { storableText } from '../../../runtime/text/storable-text.ts';
import type { Sql } from '../../database/store.ts';
import type { AttemptOutcome } from '../../outbox/shared.sql.ts';
import { hasNoneOfPair } from '../delivery/check-channels.sql.ts';

/**
 * The lease of a delivery in the message of another one (its carrier). Until then the previous release does not claim
 * it; after a downgrade it then sends the delivery by itself. Longer than the time between two attempts, each of which
 * renews it. This release never claims such a delivery: see `releaseOrphans`.
 */
export const CARRIED_LEASE = `now() + interval '1 hour'`;

/**
 * Common table expressions that follow `claimed`: add the deliveries that wait for the same message to each delivery
 * that is claimed for the first time. Skips a delivery whose check has an earlier notice that is still to be sent.
 *
 * @param now the parameter with the time
 * @param maxCarried the parameter with the most deliveries that are added; the others wait for the next message
 */
export function bundledAfterClaim(now: string, maxCarried: string): string {
  return `candidates as (
    select m.id, claimed.id as bundle_id
    from claimed cross join lateral (
      select m.id from alert_deliveries m
      where m.account_id = claimed.account_id and m.channel_id = claimed.channel_id
        and m.bundle_key = claimed.bundle_key and m.id <> claimed.id and m.finished_at is null
        and m.state = 'waiting' and m.attempts = 0 and m.bundle_id is null
        and ${hasNoneOfPair('m', '<')}
      order by m.seq limit ${maxCarried}::int
      for update of m skip locked
    ) m
    where claimed.attempt = 1
  ), gathered as (
    update alert_deliveries d
    set state = 'sending', bundle_id = candidates.bundle_id, lease_until = ${CARRIED_LEASE},
      attempts = 1, last_attempt_at = ${now}::timestamptz
    from candidates where d.id = candidates.id
  )`;
}

/**
 * Queues deliveries again whose carrier was sent without them or was deleted: the previous release sends only the
 * notice of the carrier. Skips those that the previous release is sending now.
 *
 * @returns how many it queued
 */
export async function releaseOrphans(sql: Sql): Promise<number> {
  const rows = await sql.query(
    `with orphans as (
       select m.id from alert_deliveries m
       where m.bundle_id is not null and m.finished_at is null
         and (m.owner is null or m.lease_until < now())
         and not exists (select from alert_deliveries carrier
           where carrier.id = m.bundle_id and carrier.finished_at is null)
       for update of m skip locked
     )
     update alert_deliveries d
     set state = 'waiting', bundle_id = null, owner = null, lease_until = null,
       attempts = case when d.state = 'sending' and d.owner is null then 0 else d.attempts end
     from orphans where d.id = orphans.id
     returning 1`,
  );
  return rows.length;
}

/** The other notices of a message, besides that of its carrier. */
export type CarriedNotices = {
  readonly count: number;
  readonly hasFailure: boolean;
  /** The first, as the outbox stored them. */
  readonly first: readonly unknown[];
};

/**
 * Reads the other notices of the message of a delivery.
 *
 * @param failures the types of alerts that report a failure
 */
export async function findCarried(
  sql: Sql,
  {
    deliveryId,
    limit,
    failures,
  }: {
    readonly deliveryId: string;
    readonly limit: number;
    readonly failures: readonly string[];
  },
): Promise<CarriedNotices> {
  const [row] = await sql.query<CarriedNotices>(
    `select count(*)::int as count, coalesce(bool_or(alert_type = any($3::text[])), false) as has_failure,
       coalesce((select jsonb_agg(notice order by seq) from (
         select notice, seq from alert_deliveries where bundle_id = $1
         order by seq limit $2::bigint) as first), '[]'::jsonb) as first
     from alert_deliveries where bundle_id = $1`,
    [deliveryId, limit, failures],
  );
  return row ?? { count: 0, hasFailure: false, first: [] };
}

/**
 * Stores the outcome of a message for the other deliveries in it. They stay `sending` while the message is to be
 * retried.
 *
 * @returns how many there are
 */
export async function recordCarried(
  sql: Sql,
  {
    deliveryId,
    attempt,
    atMs,
    outcome,
  }: {
    readonly deliveryId: string;
    readonly attempt: number;
    readonly atMs: number;
    readonly outcome: AttemptOutcome;
  },
): Promise<number> {
  const { state, status, error, answer = null } = outcome;
  const isFinished = state !== 'waiting';
  const rows = await sql.query(
    `update alert_deliveries
     set state = case when $2::boolean then $3 else state end, attempts = $4::int,
       last_attempt_at = $5::timestamptz, last_status = $6::int, last_error = $7, last_answer = $8,
       lease_until = case when $2::boolean then null else ${CARRIED_LEASE} end,
       finished_at = case when $2::boolean then $5::timestamptz end
     where bundle_id = $1 and finished_at is null
     returning 1`,
    [
      deliveryId,
      isFinished,
      state,
      attempt,
      new Date(atMs),
      status,
      error === null ? null : storableText(error),
      answer === null ? null : storableText(answer),
    ],
  );
  return rows.length;
}

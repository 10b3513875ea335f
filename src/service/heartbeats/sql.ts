import type { Rhythm } from '../../model/heartbeat/heartbeat.ts';
import type { HeartbeatPosition, HeartbeatState } from '../../model/heartbeat/heartbeat-machine.ts';
import type { CheckKey } from '../checks/exports.ts';
import type { Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';

/** What a heartbeat was when it was locked, and what of its check matters to it. */
export interface LockedHeartbeat {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  /** The check is activated, and its group too. */
  readonly isActive: boolean;
  /** Of the check or its group. */
  readonly tags: readonly string[];
  readonly rhythm: Rhythm;
  readonly standing: HeartbeatPosition;
  /** null while it does not fail. */
  readonly failingSinceMs: number | null;
  /** When it fails if no ping comes, as far as is known; epoch milliseconds. */
  readonly dueMs: number | null;
  /** The last event, where that is one in which early pings are counted. */
  readonly early: EarlyEvent | null;
}

export interface EarlyEvent {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly sinceMs: number;
}

type HeartbeatRow = {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  readonly periodMs: number;
  readonly graceMs: number;
  readonly lastPingAt: Date | null;
  readonly countedFrom: Date | null;
  readonly failingSince: Date | null;
  readonly dueAt: Date | null;
  readonly earlyEventId: string | null;
  readonly earlySince: Date | null;
};

/** The row of the check is held too, and first: whoever changes a check does so in that order. */
const LOCKED = `select h.account_id, h.check_id, c.name,
    c.activated and coalesce(g.activated, true) as is_active,
    c.tags || coalesce(g.tags, '[]') as tags, h.period_ms, h.grace_ms, h.last_ping_at,
    h.counted_from, h.failing_since, h.due_at, h.early_event_id, h.early_since
  from heartbeats h
    join checks c on c.account_id = h.account_id and c.id = h.check_id
    left join check_groups g on g.id = c.group_id and g.account_id = c.account_id`;

function heartbeatOf(row: HeartbeatRow): LockedHeartbeat {
  return {
    accountId: row.accountId,
    checkId: row.checkId,
    name: row.name,
    isActive: row.isActive,
    tags: row.tags,
    rhythm: { periodMs: row.periodMs, graceMs: row.graceMs },
    standing: {
      lastPingMs: row.lastPingAt?.getTime() ?? null,
      countedFromMs: row.countedFrom?.getTime() ?? null,
      isFailing: row.failingSince !== null,
    },
    failingSinceMs: row.failingSince?.getTime() ?? null,
    dueMs: row.dueAt?.getTime() ?? null,
    early:
      row.earlyEventId === null || row.earlySince === null
        ? null
        : { id: row.earlyEventId, sinceMs: row.earlySince.getTime() },
  };
}

/**
 * Whichever account's it is: the token names it. Until the transaction ends, nobody else changes the
 * heartbeat or its check.
 */
export async function lockPinged(sql: Sql, token: string): Promise<LockedHeartbeat | null> {
  const rows = await sql.query<HeartbeatRow>(
    `${LOCKED} where h.ping_token = $1 for no key update of c, h`,
    [token],
  );
  return rows[0] === undefined ? null : heartbeatOf(rows[0]);
}

/** Those of any account whose time has come, which nobody else holds; the longest due first. */
export async function lockDue(
  sql: Sql,
  {
    atMs,
    limit,
    except,
  }: { readonly atMs: number; readonly limit: number; readonly except: readonly CheckKey[] },
): Promise<readonly LockedHeartbeat[]> {
  const rows = await sql.query<HeartbeatRow>(
    `${LOCKED} where h.due_at <= $1::timestamptz
       and not exists (select from unnest($3::text[], $4::text[]) as left_out (account_id, id)
         where left_out.account_id = h.account_id and left_out.id = h.check_id)
     order by h.due_at limit $2::bigint for no key update of c, h skip locked`,
    [new Date(atMs), limit, except.map(({ accountId }) => accountId), except.map(({ id }) => id)],
  );
  return rows.map(heartbeatOf);
}

/** With the row of its check, which exists. */
export async function insertHeartbeat(
  sql: Sql,
  { accountId, id, rhythm, token }: CheckKey & { readonly rhythm: Rhythm; readonly token: string },
): Promise<void> {
  await sql.query(
    `insert into heartbeats (account_id, check_id, ping_token, period_ms, grace_ms)
     values ($1, $2, $3, $4::bigint, $5::bigint)`,
    [accountId, id, token, rhythm.periodMs, rhythm.graceMs],
  );
}

/** Of `setRhythm`: how long it waits now, and from when. */
const SPAN = `($3::bigint + $4::bigint) * interval '1 millisecond'`;
const SINCE = `case when counted_from + ${SPAN} <= $5::timestamptz then $5::timestamptz
  else counted_from end`;

/**
 * Of a check that `lockCheck` holds. The time that runs is counted by the new rhythm; where it would
 * be over by that already, from now on.
 */
export async function setRhythm(
  sql: Sql,
  { accountId, id, rhythm, atMs }: CheckKey & { readonly rhythm: Rhythm; readonly atMs: number },
): Promise<void> {
  await sql.query(
    `update heartbeats set period_ms = $3::bigint, grace_ms = $4::bigint,
       counted_from = ${SINCE},
       due_at = case when due_at is not null then ${SINCE} + ${SPAN} end
     where account_id = $1 and check_id = $2
       and (period_ms, grace_ms) is distinct from ($3::bigint, $4::bigint)`,
    [accountId, id, rhythm.periodMs, rhythm.graceMs, new Date(atMs)],
  );
}

/** @returns the token before; null where there is no such heartbeat */
export async function replaceToken(
  sql: Sql,
  { accountId, id, token }: CheckKey & { readonly token: string },
): Promise<string | null> {
  const rows = await sql.query<{ pingToken: string }>(
    `update heartbeats h set ping_token = $3
     from (select ping_token from heartbeats where account_id = $1 and check_id = $2 for update) b
     where h.account_id = $1 and h.check_id = $2
     returning b.ping_token`,
    [accountId, id, token],
  );
  return rows[0]?.pingToken ?? null;
}

/** What became of a heartbeat that is locked. */
export interface HeartbeatStep {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  readonly standing: HeartbeatPosition;
  /** When it is to be looked at next; null for not before a ping. Epoch milliseconds. */
  readonly dueMs: number | null;
  readonly early: EarlyEvent | null;
  /** What happened; null where nothing did that anybody is to see. */
  readonly event: {
    /** One that is there already gets the pings. */
    readonly id: string;
    readonly state: HeartbeatState;
    readonly atMs: number;
    readonly source: string;
    readonly userAgent: string;
    readonly pings: number;
  } | null;
}

/**
 * Of heartbeats that `lockPinged` or `lockDue` holds: how they stand, what happened, and by that the
 * status of the check.
 *
 * @param steps each of another heartbeat
 */
export async function putSteps(
  sql: Sql,
  { steps, atMs }: { readonly steps: readonly HeartbeatStep[]; readonly atMs: number },
): Promise<void> {
  if (steps.length === 0) return;
  const rows = steps.map(({ standing, event, early, ...step }) => ({
    account_id: step.accountId,
    check_id: step.checkId,
    name: step.name,
    last_ping_at: time(standing.lastPingMs),
    counted_from: time(standing.countedFromMs),
    is_failing: standing.isFailing,
    due_at: time(step.dueMs),
    early_event_id: early?.id ?? null,
    early_since: time(early?.sinceMs ?? null),
    id: event?.id ?? null,
    state: event?.state ?? null,
    at: time(event?.atMs ?? null),
    source: event?.source ?? null,
    user_agent: event?.userAgent ?? null,
    pings: event?.pings ?? null,
  }));
  await sql.query(
    `with given as (
       select * from jsonb_to_recordset($2::jsonb) as g (account_id text, check_id text, name text,
         last_ping_at timestamptz, counted_from timestamptz, is_failing boolean,
         due_at timestamptz, early_event_id text, early_since timestamptz, id text, state text,
         at timestamptz, source text, user_agent text, pings bigint)
     ), moved as (
       update heartbeats h set last_ping_at = g.last_ping_at, counted_from = g.counted_from,
         failing_since = case when g.is_failing then coalesce(h.failing_since, g.at) end,
         due_at = g.due_at, early_event_id = g.early_event_id, early_since = g.early_since
       from given g where h.account_id = g.account_id and h.check_id = g.check_id
     ), told as (
       insert into heartbeat_events as e (account_id, check_id, id, state, at, source, user_agent,
         pings)
       select account_id, check_id, id, state, at, source, user_agent, pings
       from given where id is not null
       on conflict (account_id, check_id, id) do update set pings = e.pings + excluded.pings
     )
     insert into check_statuses as s (account_id, check_id, name, has_failures, has_errors,
       is_degraded, last_slot, created_at)
     select account_id, check_id, name, state = 'FAILING', false, false, at, $1::timestamptz
     from given where id is not null
     on conflict (account_id, check_id) do update set name = excluded.name,
       has_failures = excluded.has_failures, last_slot = excluded.last_slot,
       updated_at = excluded.created_at`,
    [new Date(atMs), jsonText(rows)],
  );
}

function time(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs);
}

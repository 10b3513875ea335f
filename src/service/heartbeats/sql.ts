import type { Rhythm } from '../../model/check/heartbeat.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { HeartbeatPosition, HeartbeatState } from './heartbeat-state-machine.ts';
import type { EarlyEvent } from './pings/early-ping-events.ts';

/** A locked heartbeat with the fields of its check that it depends on. */
export interface LockedHeartbeat {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  /** Whether the check and its group are activated. */
  readonly isActive: boolean;
  /** The tags of the check and of its group. */
  readonly tags: readonly string[];
  readonly rhythm: Rhythm;
  readonly position: HeartbeatPosition;
  /** null while it does not fail. */
  readonly failingSinceMs: number | null;
  /** When `lockDue` returns it if no ping comes, epoch milliseconds; null for never. */
  readonly dueMs: number | null;
  /** The last event, where it counts early pings. */
  readonly early: EarlyEvent | null;
}

/** Columns of a heartbeat that are shown with its check. */
export interface HeartbeatOfCheck {
  readonly pingToken: string;
  /** Epoch milliseconds; null before the first ping. */
  readonly lastPingMs: number | null;
}

/** Selects `HeartbeatOfCheck` as `heartbeat` for rows of `checks`; null for other types. */
export const HEARTBEAT_OF_CHECK = `case when check_type = 'HEARTBEAT' then (
  select jsonb_build_object('pingToken', h.ping_token,
    'lastPingMs', floor(extract(epoch from h.last_ping_at) * 1000)::bigint) from heartbeats h
  where h.account_id = checks.account_id and h.check_id = checks.id) end as heartbeat`;

/** The fields of a heartbeat in a list of statuses. Epoch milliseconds. */
export interface HeartbeatOfStatus {
  readonly periodSeconds: number;
  readonly graceSeconds: number;
  /** null before the first ping. */
  readonly lastPingMs: number | null;
  /** When it fails if no ping comes; null while nothing is due. */
  readonly dueMs: number | null;
}

/** Selects `HeartbeatOfStatus` as `heartbeat` for rows of `checks c`; null for other types. */
export const HEARTBEAT_OF_STATUS = `case when c.check_type = 'HEARTBEAT' then (
  select jsonb_build_object('periodSeconds', h.period_ms / 1000, 'graceSeconds', h.grace_ms / 1000,
    'lastPingMs', (extract(epoch from h.last_ping_at) * 1000)::bigint,
    'dueMs', (extract(epoch from h.due_at) * 1000)::bigint)
  from heartbeats h where h.account_id = c.account_id and h.check_id = c.id) end as heartbeat`;

type HeartbeatRow = Pick<
  LockedHeartbeat,
  'accountId' | 'checkId' | 'name' | 'isActive' | 'tags' | 'rhythm'
> & {
  readonly lastPingAt: Date | null;
  readonly countedFrom: Date | null;
  readonly failingSince: Date | null;
  readonly dueAt: Date | null;
  readonly earlyEventId: string | null;
  readonly earlySince: Date | null;
};

/** Locks the row of the check first: changes of checks lock in this order, too. */
const LOCKED = `select h.account_id, h.check_id, c.name,
    c.activated and coalesce(g.activated, true) as is_active,
    c.tags || coalesce(g.tags, '[]') as tags,
    jsonb_build_object('periodMs', h.period_ms, 'graceMs', h.grace_ms) as rhythm, h.last_ping_at,
    h.counted_from, h.failing_since, h.due_at, h.early_event_id, h.early_since
  from heartbeats h
    join checks c on c.account_id = h.account_id and c.id = h.check_id
    left join check_groups g on g.id = c.group_id and g.account_id = c.account_id`;

function heartbeatOf({
  lastPingAt,
  countedFrom,
  failingSince,
  dueAt,
  earlyEventId,
  earlySince,
  ...check
}: HeartbeatRow): LockedHeartbeat {
  return {
    ...check,
    position: {
      lastPingMs: lastPingAt?.getTime() ?? null,
      countedFromMs: countedFrom?.getTime() ?? null,
      isFailing: failingSince !== null,
    },
    failingSinceMs: failingSince?.getTime() ?? null,
    dueMs: dueAt?.getTime() ?? null,
    early:
      earlyEventId === null || earlySince === null
        ? null
        : { id: earlyEventId, sinceMs: earlySince.getTime() },
  };
}

/**
 * Finds the heartbeat with the token in any account. Locks it and its check until the transaction ends.
 */
export async function lockPinged(sql: Sql, token: string): Promise<LockedHeartbeat | null> {
  const [row] = await sql.query<HeartbeatRow>(
    `${LOCKED} where h.ping_token = $1 for no key update of c, h`,
    [token],
  );
  return row === undefined ? null : heartbeatOf(row);
}

/** Locks due heartbeats of any account, longest due first. Skips those that others have locked. */
export async function lockDue(
  sql: Sql,
  {
    atMs,
    limit,
    except,
  }: { readonly atMs: number; readonly limit: number; readonly except: readonly AccountKey[] },
): Promise<readonly LockedHeartbeat[]> {
  const rows = await sql.query<HeartbeatRow>(
    `${LOCKED} where h.due_at <= $1::timestamptz
       and not exists (select from unnest($3::text[], $4::text[]) as skipped (account_id, id)
         where skipped.account_id = h.account_id and skipped.id = h.check_id)
     order by h.due_at limit $2::bigint for no key update of c, h skip locked`,
    [new Date(atMs), limit, except.map(({ accountId }) => accountId), except.map(({ id }) => id)],
  );
  return rows.map(heartbeatOf);
}

/** Call it after the row of the check was inserted. */
export async function insertHeartbeat(
  sql: Sql,
  {
    accountId,
    id,
    rhythm,
    token,
  }: AccountKey & { readonly rhythm: Rhythm; readonly token: string },
): Promise<void> {
  await sql.query(
    `insert into heartbeats (account_id, check_id, ping_token, period_ms, grace_ms)
     values ($1, $2, $3, $4::bigint, $5::bigint)`,
    [accountId, id, token, rhythm.periodMs, rhythm.graceMs],
  );
}

/** SQL for `setRhythm`: the time from the start of the period to the deadline. */
const SPAN = `($3::bigint + $4::bigint) * interval '1 millisecond'`;
const SINCE = `case when counted_from + ${SPAN} <= $5::timestamptz then $5::timestamptz
  else counted_from end`;

/**
 * Only for a check that `lockCheck` locks. The new rhythm applies from the start of the running
 * period, or from now where its deadline would have passed already.
 */
export async function setRhythm(
  sql: Sql,
  { accountId, id, rhythm, atMs }: AccountKey & { readonly rhythm: Rhythm; readonly atMs: number },
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

/** @returns the token before; null if there is no such heartbeat */
export async function replaceToken(
  sql: Sql,
  { accountId, id, token }: AccountKey & { readonly token: string },
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

/** The changes of a locked heartbeat. */
export interface HeartbeatStep {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  readonly position: HeartbeatPosition;
  /** When it is judged next, epoch milliseconds; null for not before a ping. */
  readonly dueMs: number | null;
  readonly early: EarlyEvent | null;
  /** null if nothing visible happened. */
  readonly event: {
    /** The id of an existing event adds the pings to that event. */
    readonly id: string;
    readonly state: HeartbeatState;
    readonly atMs: number;
    readonly source: string;
    readonly userAgent: string;
    readonly pings: number;
  } | null;
}

/**
 * Stores steps of heartbeats that `lockPinged` or `lockDue` locks, with their events and the statuses
 * of their checks.
 *
 * @param steps at most one of each heartbeat
 */
export async function putSteps(
  sql: Sql,
  { steps, atMs }: { readonly steps: readonly HeartbeatStep[]; readonly atMs: number },
): Promise<void> {
  if (steps.length === 0) return;
  const rows = steps.map(({ position, event, early, ...step }) => ({
    account_id: step.accountId,
    check_id: step.checkId,
    name: step.name,
    last_ping_at: time(position.lastPingMs),
    counted_from: time(position.countedFromMs),
    is_failing: position.isFailing,
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
     ), events as (
       insert into heartbeat_events as e (account_id, check_id, id, state, at, source, user_agent,
         pings)
       select account_id, check_id, id, state, at, source, user_agent, pings
       from given where id is not null
       on conflict (account_id, check_id, id) do update set pings = e.pings + excluded.pings
     )
     insert into check_statuses as s (account_id, check_id, name, has_failures, has_errors,
       is_degraded, last_slot, created_at, state, since, state_slot, state_version)
     select account_id, check_id, name, state = 'FAILING', false, false, at, $1::timestamptz,
       case when state = 'FAILING' then 'failing' else 'passing' end, at, at, 1
     from given where id is not null
     on conflict (account_id, check_id) do update set name = excluded.name,
       has_failures = excluded.has_failures, last_slot = excluded.last_slot,
       updated_at = excluded.created_at, state = excluded.state, state_slot = excluded.state_slot,
       since = case when s.state = excluded.state then s.since else excluded.since end,
       state_version = s.state_version + 1`,
    [new Date(atMs), jsonText(rows)],
  );
}

function time(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs);
}

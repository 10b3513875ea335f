import { ASSIGNMENTS_CHANNEL } from '../agents/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';

export const RUN_REASONS = ['requested', 'retry'] as const;
export type RunReason = (typeof RUN_REASONS)[number];

/**
 * - `waiting`: no agent has it
 * - `assigned`: an agent claimed it, and may have lost its lease since
 * - `done`: its FINAL is stored
 * - `expired`: no agent ran it in time; a late FINAL changes it to `done`
 * - `cancelled`: on request; a FINAL does not change this state
 */
export const CHECK_RUN_STATES = ['waiting', 'assigned', 'done', 'expired', 'cancelled'] as const;
export type CheckRunState = (typeof CHECK_RUN_STATES)[number];

/** An unscheduled run, from its row and its FINAL. */
export type CheckRun = {
  readonly id: string;
  readonly checkId: string;
  /** The slug of the location that makes it. */
  readonly location: string;
  readonly reason: RunReason;
  readonly state: CheckRunState;
  readonly slot: Date;
  readonly sequenceId: string;
  readonly createdAt: Date;
  readonly notAfter: Date;
  /** The id of the FINAL result of its sequence, whichever agent made it; null until it is stored. */
  readonly resultId: string | null;
};

/** Identifies one attempt of a run. At most one row exists for it. */
export interface AttemptKey {
  readonly accountId: string;
  readonly checkId: string;
  readonly sequenceId: string;
  readonly retriesMade: number;
}

export interface NewRun extends AttemptKey {
  readonly id: string;
  readonly locationId: string;
  readonly reason: RunReason;
  readonly slotMs: number;
  /** When the first attempt of a retried run began; null without a retry. */
  readonly firstStartedAtMs: number | null;
  readonly originLocationId: string | null;
  readonly notBeforeMs: number | null;
  /** How long the run may still be started, counted from `notBeforeMs` or now, whichever is later. */
  readonly windowMs: number;
  /** The maximum of `notBeforeMs`, relative to now: a later time is a clock error. */
  readonly maxDelayMs: number;
}

/**
 * Stores a run and wakes the polls of its location.
 *
 * @returns false if this attempt of this run is stored already
 */
export async function insertRun(sql: Sql, run: NewRun): Promise<boolean> {
  const rows = await sql.query(
    `with due as (
       select case when $11::timestamptz is null then null
         else least($11::timestamptz, now() + $13::double precision * interval '1 millisecond')
         end as not_before
     ), added as (
       insert into one_off_runs (id, account_id, location_id, check_id, reason, slot, sequence_id,
         retries_made, first_started_at, origin_location_id, not_before, not_after)
       select $1, $2, $3, $4, $5, $6::timestamptz, $7, $8::int, $9::timestamptz, $10,
         due.not_before,
         greatest(due.not_before, now()) + $12::double precision * interval '1 millisecond'
       from due
       on conflict (account_id, check_id, sequence_id, retries_made) do nothing
       returning location_id
     )
     select pg_notify($14, location_id)::text from added`,
    [
      run.id,
      run.accountId,
      run.locationId,
      run.checkId,
      run.reason,
      new Date(run.slotMs),
      run.sequenceId,
      run.retriesMade,
      dateOrNull(run.firstStartedAtMs),
      run.originLocationId,
      dateOrNull(run.notBeforeMs),
      run.windowMs,
      run.maxDelayMs,
      ASSIGNMENTS_CHANNEL,
    ],
  );
  return rows.length > 0;
}

const RUN = `select r.id, r.check_id, l.slug as location, r.reason,
    case when r.cancelled_at is not null then 'cancelled' else r.state end as state,
    r.slot, r.sequence_id, r.created_at, r.not_after, f.id as result_id
  from one_off_runs r
  join private_locations l on l.id = r.location_id
  left join check_results f on f.account_id = r.account_id and f.check_id = r.check_id
    and f.sequence_id = r.sequence_id and f.slot = r.slot and f.result_type = 'FINAL'`;

export async function findRun(sql: Sql, { accountId, id }: AccountKey): Promise<CheckRun | null> {
  const [run] = await sql.query<CheckRun>(`${RUN} where r.account_id = $1 and r.id = $2`, [
    accountId,
    id,
  ]);
  return run ?? null;
}

export async function findRunOfAttempt(sql: Sql, key: AttemptKey): Promise<CheckRun | null> {
  const [run] = await sql.query<CheckRun>(
    `${RUN} where r.account_id = $1 and r.check_id = $2 and r.sequence_id = $3
       and r.retries_made = $4::int`,
    [key.accountId, key.checkId, key.sequenceId, key.retriesMade],
  );
  return run ?? null;
}

/**
 * Finds the location where a handed over or requested run began; null if no attempt of the run was given to
 * `locationId`.
 */
export async function findOrigin(
  sql: Sql,
  run: Omit<AttemptKey, 'retriesMade'> & { readonly slotMs: number; readonly locationId: string },
): Promise<string | null> {
  const rows = await sql.query<{ origin: string; isOwn: boolean }>(
    `select coalesce(origin_location_id, location_id) as origin,
       bool_or(location_id = $5) over () as is_own
     from one_off_runs
     where account_id = $1 and check_id = $2 and sequence_id = $3 and slot = $4::timestamptz
     order by retries_made limit 1`,
    [run.accountId, run.checkId, run.sequenceId, new Date(run.slotMs), run.locationId],
  );
  const [first] = rows;
  return first?.isOwn === true ? first.origin : null;
}

/** How many runs of a location are neither done nor expired nor closed by their agents. */
export async function countOpenRuns(sql: Sql, locationId: string): Promise<number> {
  const rows = await sql.query<{ open: number }>(
    `select count(*) as open from one_off_runs
     where location_id = $1 and state in ('waiting', 'assigned') and closed_at is null`,
    [locationId],
  );
  return rows[0]?.open ?? 0;
}

/** Closes the attempts before this one: agents do not get them again. */
export async function closeEarlierAttempts(sql: Sql, key: AttemptKey): Promise<void> {
  await sql.query(
    `update one_off_runs set closed_at = now()
     where account_id = $1 and check_id = $2 and sequence_id = $3 and retries_made < $4::int
       and state in ('waiting', 'assigned') and closed_at is null`,
    [key.accountId, key.checkId, key.sequenceId, key.retriesMade],
  );
}

/** Marks all attempts of runs with a FINAL as done. Locks the rows in the order of ids. */
export async function finishRuns(
  sql: Sql,
  {
    accountId,
    finals,
  }: {
    readonly accountId: string;
    readonly finals: readonly { readonly checkId: string; readonly sequenceId: string }[];
  },
): Promise<void> {
  if (finals.length === 0) return;
  await sql.query(
    `with finished as (
       select id from one_off_runs
       where account_id = $1 and state <> 'done' and (check_id, sequence_id) in
         (select * from unnest($2::text[], $3::text[]))
       order by id for update
     )
     update one_off_runs r set state = 'done' from finished where r.id = finished.id`,
    [accountId, finals.map(({ checkId }) => checkId), finals.map(({ sequenceId }) => sequenceId)],
  );
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

import type { Sql } from '../database/port.ts';

export const RUN_REASONS = ['requested', 'retry'] as const;
export type RunReason = (typeof RUN_REASONS)[number];

/**
 * - `waiting`: nobody has it
 * - `assigned`: an agent was given it, and may have lost its lease since
 * - `done`: its FINAL is in
 * - `expired`: given up; a FINAL that comes nevertheless makes it `done`
 */
export const RUN_STATES = ['waiting', 'assigned', 'done', 'expired'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** A run beside the plan, as its row and its FINAL say. */
export interface OneOffRun {
  readonly id: string;
  readonly checkId: string;
  /** The slug of the location that is to make it. */
  readonly location: string;
  readonly reason: RunReason;
  readonly state: RunState;
  readonly slot: Date;
  readonly sequenceId: string;
  readonly createdAt: Date;
  readonly notAfter: Date;
  /** Of the FINAL of its sequence, whoever made it; null until it is in. */
  readonly resultId: string | null;
}

/** One attempt of one run: there is one row for it at most. */
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
  /** Of a retry. */
  readonly firstStartedAtMs: number | null;
  readonly originLocationId: string | null;
  readonly notBeforeMs: number | null;
  /** It may be started for so long, from `notBeforeMs` or now, whichever is later. */
  readonly windowMs: number;
  /** A `notBeforeMs` later than this from now is the slip of a clock, and is cut to it. */
  readonly maxDelayMs: number;
}

/** The channel on which the long polls of a location hear that there is something for them. */
const ASSIGNMENTS = 'vedette_assignments';

/**
 * Notes a run and wakes the polls of its location.
 *
 * @returns false where this attempt of this run is noted already, by whomever
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
      ASSIGNMENTS,
    ],
  );
  return rows.length > 0;
}

type RunRow = {
  readonly id: string;
  readonly checkId: string;
  readonly slug: string;
  readonly reason: RunReason;
  readonly state: RunState;
  readonly slot: Date;
  readonly sequenceId: string;
  readonly createdAt: Date;
  readonly notAfter: Date;
  readonly resultId: string | null;
};

const RUN = `select r.id, r.check_id, l.slug, r.reason, r.state, r.slot, r.sequence_id,
    r.created_at, r.not_after, f.id as result_id
  from one_off_runs r
  join private_locations l on l.id = r.location_id
  left join check_results f on f.account_id = r.account_id and f.check_id = r.check_id
    and f.sequence_id = r.sequence_id and f.slot = r.slot and f.result_type = 'FINAL'`;

function runOf(row: RunRow | undefined): OneOffRun | null {
  if (row === undefined) return null;
  return {
    id: row.id,
    checkId: row.checkId,
    location: row.slug,
    reason: row.reason,
    state: row.state,
    slot: row.slot,
    sequenceId: row.sequenceId,
    createdAt: row.createdAt,
    notAfter: row.notAfter,
    resultId: row.resultId,
  };
}

export async function findRun(
  sql: Sql,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<OneOffRun | null> {
  const rows = await sql.query<RunRow>(`${RUN} where r.account_id = $1 and r.id = $2`, [
    accountId,
    id,
  ]);
  return runOf(rows[0]);
}

export async function findRunOfAttempt(sql: Sql, key: AttemptKey): Promise<OneOffRun | null> {
  const rows = await sql.query<RunRow>(
    `${RUN} where r.account_id = $1 and r.check_id = $2 and r.sequence_id = $3
       and r.retries_made = $4::int`,
    [key.accountId, key.checkId, key.sequenceId, key.retriesMade],
  );
  return runOf(rows[0]);
}

/**
 * Where a run began that was handed over or asked for; null where no attempt of it was ever given
 * to `locationId`.
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

/** How many runs of a location are neither done nor given up, nor only waited for. */
export async function countOpenRuns(sql: Sql, locationId: string): Promise<number> {
  const rows = await sql.query<{ open: number }>(
    `select count(*) as open from one_off_runs
     where location_id = $1 and state in ('waiting', 'assigned') and closed_at is null`,
    [locationId],
  );
  return rows[0]?.open ?? 0;
}

/** The attempts before this one are over: nobody is to be told of them again. */
export async function closeEarlierAttempts(sql: Sql, key: AttemptKey): Promise<void> {
  await sql.query(
    `update one_off_runs set closed_at = now()
     where account_id = $1 and check_id = $2 and sequence_id = $3 and retries_made < $4::int
       and state in ('waiting', 'assigned') and closed_at is null`,
    [key.accountId, key.checkId, key.sequenceId, key.retriesMade],
  );
}

/** Every attempt of a run is done with its FINAL. The rows are locked in the order of their ids. */
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

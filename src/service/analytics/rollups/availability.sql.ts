import type { Sql } from '../../database/store.ts';
import type { RollUpSegment } from './plan-segments.ts';
import { missedBetweenSql } from './roll-up.sql.ts';
import { groupByHash, rolledUpRunsSql } from './rolled-up-runs.sql.ts';

export type RunCounts = {
  readonly checkId: string;
  /** A multiple of the interval since 1970 (UTC), in epoch milliseconds. */
  readonly startMs: number;
  readonly runs: number;
  /** Degraded ones included. */
  readonly passed: number;
  readonly degraded: number;
};

export interface ChecksWindow {
  readonly accountId: string;
  readonly checkIds: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** The runs of each interval that has any. */
export async function countRuns(
  sql: Sql,
  {
    accountId,
    segments,
    minutes,
  }: {
    readonly accountId: string;
    readonly segments: readonly RollUpSegment[];
    readonly minutes: number;
  },
): Promise<readonly RunCounts[]> {
  const params: unknown[] = [accountId, minutes];
  const runs = rolledUpRunsSql(segments, [], (value) => `$${params.push(value)}`);
  // Returns one row with lists for each check: reading thousands of rows would take longer than counting them.
  const text = `select check_id, json_agg(extract(epoch from start)::bigint) as starts, json_agg(runs) as runs,
       json_agg(passed) as passed, json_agg(degraded) as degraded
     from (
       select check_id,
         date_bin(make_interval(mins => $2::int), slot, timestamptz '1970-01-01T00:00:00Z') as start,
         sum(runs) as runs, coalesce(sum(runs) filter (where passed), 0) as passed,
         sum(degraded) as degraded
       from (${runs}) as rolled
       group by 1, 2
     ) as intervals
     group by check_id`;
  const rows = await groupByHash(sql, () => sql.query<IntervalLists>(text, params));
  return rows.flatMap(({ checkId, starts, ...lists }) =>
    starts.map((startSeconds, index) => ({
      checkId,
      startMs: startSeconds * 1_000,
      runs: lists.runs[index] ?? 0,
      passed: lists.passed[index] ?? 0,
      degraded: lists.degraded[index] ?? 0,
    })),
  );
}

/** The intervals of a check: the first of each list belong together, and so on. */
type IntervalLists = {
  readonly checkId: string;
  /** Epoch seconds. */
  readonly starts: readonly number[];
  readonly runs: readonly number[];
  readonly passed: readonly number[];
  readonly degraded: readonly number[];
};

export type LocationDay = Pick<RunCounts, 'checkId' | 'runs' | 'passed'> & {
  readonly start: Date;
  readonly location: string;
};

/** The runs of each day and location that has any. */
export async function countDaysByLocation(
  sql: Sql,
  {
    accountId,
    segments,
  }: { readonly accountId: string; readonly segments: readonly RollUpSegment[] },
): Promise<readonly LocationDay[]> {
  const params: unknown[] = [accountId];
  const runs = rolledUpRunsSql(segments, [], (value) => `$${params.push(value)}`);
  const text = `select check_id, run_location as location,
       date_bin(interval '24 hours', slot, timestamptz '1970-01-01T00:00:00Z') as start,
       sum(runs) as runs, coalesce(sum(runs) filter (where passed), 0) as passed
     from (${runs}) as rolled
     group by 1, 2, 3`;
  return groupByHash(sql, () => sql.query<LocationDay>(text, params));
}

export type MissedInterval = {
  readonly checkId: string;
  readonly start: Date;
  readonly missed: number;
};

/** The missed slots of each day that has any. */
export async function countMissed(
  sql: Sql,
  {
    accountId,
    checkIds,
    fromMs,
    toMs,
    slotsFromMs,
  }: ChecksWindow & {
    /** All missed slots since this day are stored. */
    readonly slotsFromMs: number;
  },
): Promise<readonly MissedInterval[]> {
  return sql.query<MissedInterval>(
    `with stale as materialized (
       select check_id, start from rollup_marks
       where account_id = $1 and check_id = any($2::text[]) and kind = 'missed'
         and start >= $3::timestamptz and start < $4::timestamptz and start >= $5::timestamptz
     )
     select d.check_id, d.start, d.missed from missed_days d
     where d.account_id = $1 and d.check_id = any($2::text[])
       and d.start >= $3::timestamptz and d.start < $4::timestamptz
       and (d.check_id, d.start) not in (select check_id, start from stale)
     union all
     select stale.check_id, stale.start, counted.missed
     from stale cross join lateral (
       select sum(${missedBetweenSql('stale.start', `(stale.start + interval '24 hours')`)})::integer
         as missed
       from missed_slots m
       where m.account_id = $1 and m.check_id = stale.check_id
         and m.slot >= stale.start - interval '24 hours'
         and m.slot < stale.start + interval '24 hours' and m.last_slot >= stale.start
     ) counted
     where counted.missed > 0`,
    [accountId, checkIds, new Date(fromMs), new Date(toMs), new Date(slotsFromMs)],
  );
}

/** The missed slots of each interval that has any. */
export async function countMissedIntervals(
  sql: Sql,
  {
    accountId,
    checkIds,
    fromMs,
    toMs,
    minutes,
  }: ChecksWindow & {
    /** The length of an interval. */
    readonly minutes: number;
  },
): Promise<readonly MissedInterval[]> {
  // No range of missed slots is longer than a day.
  return sql.query<MissedInterval>(
    `select check_id, start, sum(missed)::integer as missed
     from (
       select m.check_id, i.start, ${missedBetweenSql('i.start', '(i.start + span.length)')} as missed
       from missed_slots m
         cross join (select make_interval(mins => $5::int) as length) as span
         cross join lateral generate_series(
           greatest($3::timestamptz,
             date_bin(span.length, m.slot, timestamptz '1970-01-01T00:00:00Z')),
           least($4::timestamptz - span.length, m.last_slot), span.length) as i (start)
       where m.account_id = $1 and m.check_id = any($2::text[])
         and m.slot >= $3::timestamptz - interval '24 hours' and m.slot < $4::timestamptz
         and m.last_slot >= $3::timestamptz
     ) as counted
     where missed > 0
     group by check_id, start`,
    [accountId, checkIds, new Date(fromMs), new Date(toMs), minutes],
  );
}

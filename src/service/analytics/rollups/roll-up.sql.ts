import { DAY_MS } from '../../../model/time-units.ts';
import type { Sql, Store } from '../../database/store.ts';
import { MEASURE_COLUMNS } from '../run-metrics.sql.ts';
import type { RollUpSpan } from './plan-segments.ts';

/** The advisory lock that lets only one replica roll up at a time. */
const LOCK_KEY = 7_236_530_121;
/** A waiting drop blocks all later statements on the table, so it gives up soon. */
const DROP_LOCK_WAIT_MS = 2_000;
const EPOCH = `timestamptz '1970-01-01T00:00:00Z'`;
/** The time ranges as a table: $1 to $4. */
const TIMES = `unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[])
  as given (account_id, check_id, from_at, to_at)`;
/** The bounds of all time ranges: the planner skips partitions outside of them. */
const FROM = '$5::timestamptz';
const TO = '$6::timestamptz';

export type CheckKey = {
  readonly accountId: string;
  readonly checkId: string;
};

/** A time range of a check that consists of whole roll-ups. */
export interface CheckTime extends CheckKey {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TakenMark extends CheckKey {
  readonly kind: 'runs' | 'missed';
  readonly span: RollUpSpan;
  readonly startMs: number;
}

/** Takes the lock until the transaction ends. @returns false while another replica has it */
export async function lockRollUps(tx: Sql): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1) as locked',
    [LOCK_KEY],
  );
  return row?.locked ?? false;
}

/**
 * Removes and returns due marks, oldest first. Later statements see all results that were stored with these
 * marks; storing further results marks the roll-ups again. Skips marks that other transactions have locked.
 */
export async function takeMarks(
  tx: Sql,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly TakenMark[]> {
  const rows = await tx.query<{
    accountId: string;
    checkId: string;
    kind: TakenMark['kind'];
    span: RollUpSpan;
    start: Date;
  }>(
    `delete from rollup_marks where ctid = any (array(
       select ctid from rollup_marks where due <= $1::timestamptz order by due, span limit $2::bigint
       for update skip locked))
     returning account_id, check_id, kind, span, start`,
    [new Date(nowMs), limit],
  );
  return rows.map(({ start, ...mark }) => ({ ...mark, startMs: +start }));
}

/** Marks the roll-ups of a longer span that contain these time ranges. They are due soon after their end. */
export async function markSpan(
  tx: Sql,
  { span, times }: { readonly span: 60 | 1440; readonly times: readonly CheckTime[] },
): Promise<void> {
  await tx.query(
    `insert into rollup_marks (account_id, check_id, kind, span, start, due)
     select account_id, check_id, 'runs', ${span}, start,
       start + interval '${span + (span === 60 ? 5 : 10)} minutes'
     from (
       select distinct account_id, check_id, date_bin('${span} minutes', from_at, ${EPOCH}) as start
       from ${TIMES}
     ) as starts
     order by account_id, check_id, start
     on conflict (account_id, check_id, kind, span, start) do nothing`,
    timeParams(times),
  );
}

function timeParams(times: readonly CheckTime[]): readonly unknown[] {
  return [
    times.map(({ accountId }) => accountId),
    times.map(({ checkId }) => checkId),
    times.map(({ fromMs }) => new Date(fromMs)),
    times.map(({ toMs }) => new Date(toMs)),
  ];
}

function boundParams(times: readonly CheckTime[]): readonly unknown[] {
  let [fromMs, toMs] = [Number.MAX_SAFE_INTEGER, 0];
  for (const time of times) {
    fromMs = Math.min(fromMs, time.fromMs);
    toMs = Math.max(toMs, time.toMs);
  }
  return [new Date(fromMs), new Date(toMs)];
}

const MEASURES = [...new Set(Object.values(MEASURE_COLUMNS))];
const KEY = 'account_id, check_id, span, start, run_location, status_code, passed';
const SUMS = [
  'runs',
  'degraded',
  'retries',
  ...MEASURES.flatMap((name) => [`${name}_count`, `${name}_sum`, `${name}_min`, `${name}_max`]),
];
const OVERWRITE = `on conflict (${KEY}) do update set
  ${SUMS.map((column) => `${column} = excluded.${column}`).join(', ')}`;

/** Computes the quarter hours or hours of these time ranges from their runs. */
export async function rollUpRuns(
  tx: Sql,
  { span, times }: { readonly span: 15 | 60; readonly times: readonly CheckTime[] },
): Promise<void> {
  const sums = MEASURES.map(
    (name) => `nullif(count(${name}), 0), sum(${name}::numeric), min(${name}), max(${name})`,
  );
  await tx.query(
    `insert into result_rollups (${KEY}, ${SUMS.join(', ')})
     select given.account_id, given.check_id, ${span},
       date_bin('${span} minutes', run.slot, ${EPOCH}) as start, run.run_location,
       coalesce(run.status_code, 0), run.passed, count(*), count(*) filter (where run.degraded),
       sum(run.retries), ${sums.join(', ')}
     from ${TIMES}
     cross join lateral (
       select * from result_metrics m
       where m.account_id = given.account_id and m.check_id = given.check_id
         and m.slot >= given.from_at and m.slot < given.to_at and m.slot >= ${FROM} and m.slot < ${TO}
       offset 0
     ) run
     group by 1, 2, 4, 5, 6, 7
     ${OVERWRITE}`,
    [...timeParams(times), ...boundParams(times)],
  );
}

/** Computes the days of these time ranges from their hours. */
export async function rollUpDays(tx: Sql, times: readonly CheckTime[]): Promise<void> {
  const sums = MEASURES.map(
    (name) => `sum(${name}_count), sum(${name}_sum), min(${name}_min), max(${name}_max)`,
  );
  await tx.query(
    `insert into result_rollups (${KEY}, ${SUMS.join(', ')})
     select given.account_id, given.check_id, 1440,
       date_bin('1440 minutes', part.start, ${EPOCH}) as start, part.run_location,
       part.status_code, part.passed, sum(part.runs), sum(part.degraded), sum(part.retries),
       ${sums.join(', ')}
     from ${TIMES}
     cross join lateral (
       select * from result_rollups r
       where r.account_id = given.account_id and r.check_id = given.check_id and r.span = 60
         and r.start >= given.from_at and r.start < given.to_at and r.start >= ${FROM} and r.start < ${TO}
       offset 0
     ) part
     group by 1, 2, 4, 5, 6, 7
     ${OVERWRITE}`,
    [...timeParams(times), ...boundParams(times)],
  );
}

/**
 * SQL for the number of slots in a range `m` of missed_slots between two instants, the second exclusive.
 * The slots of a range are evenly spaced.
 */
export function missedBetweenSql(from: string, to: string): string {
  const first = 'extract(epoch from m.slot)';
  const last = 'extract(epoch from m.last_slot)';
  const slotsBefore = (instant: string): string =>
    `ceil((extract(epoch from ${instant}) - ${first}) * (m.count - 1) / (${last} - ${first}))`;
  return `case
    when m.slot >= ${from} and m.last_slot < ${to} then m.count
    when m.slot = m.last_slot or m.last_slot < ${from} or m.slot >= ${to} then 0
    else greatest(0,
      least(m.count, ${slotsBefore(to)}) - greatest(0, ${slotsBefore(from)}))::integer
  end`;
}

/** Counts the missed slots of these days again. No range of missed slots is longer than a day. */
export async function countMissedDays(tx: Sql, times: readonly CheckTime[]): Promise<void> {
  const params = timeParams(times);
  await tx.query(
    `delete from missed_days d using ${TIMES}
     where d.account_id = given.account_id and d.check_id = given.check_id
       and d.start = given.from_at`,
    params,
  );
  await tx.query(
    `insert into missed_days (account_id, check_id, start, missed)
     select given.account_id, given.check_id, given.from_at, counted.missed
     from ${TIMES}
     cross join lateral (
       select sum(${missedBetweenSql('given.from_at', 'given.to_at')})::integer as missed
       from missed_slots m
       where m.account_id = given.account_id and m.check_id = given.check_id
         and m.slot >= given.from_at - interval '24 hours' and m.slot < given.to_at
         and m.last_slot >= given.from_at
     ) counted
     where counted.missed > 0`,
    params,
  );
}

/** The time before which all results were dropped, in epoch milliseconds. */
export async function oldestResultMs(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ resultsFrom: Date }>('select results_from from rollup_state');
  return row === undefined ? 0 : +row.resultsFrom;
}

/** The latest day that has results without roll-ups, and the next check of that day. */
export async function nextBackfill(
  tx: Sql,
  { limit }: { readonly limit: number },
): Promise<{ readonly dayMs: number; readonly checks: readonly CheckKey[] } | null> {
  const [row] = await tx.query<{ day: Date; accountId: string; checkId: string }>(
    'select day, account_id, check_id from rollup_backfill order by day desc limit 1',
  );
  if (row === undefined) return null;
  // A loose index scan: one look-up in the index for each check.
  const checks = await tx.query<CheckKey>(
    `with recursive next (account_id, check_id, number) as (
       select $1::text, $2::text, 0
       union all
       select found.* from next cross join lateral (
         select m.account_id, m.check_id, next.number + 1 from result_metrics m
         where m.slot >= $3::timestamptz and m.slot < $4::timestamptz
           and (m.account_id, m.check_id) > (next.account_id, next.check_id)
         order by m.account_id, m.check_id limit 1
       ) found
       where next.number < $5::int
     )
     select account_id, check_id from next where number > 0 order by number`,
    [row.accountId, row.checkId, row.day, new Date(+row.day + DAY_MS), limit],
  );
  return { dayMs: +row.day, checks };
}

/** Continues after the check next time; null if the day is complete. */
export async function advanceBackfill(
  tx: Sql,
  { dayMs, after }: { readonly dayMs: number; readonly after: CheckKey | null },
): Promise<void> {
  const day = new Date(dayMs);
  if (after === null) {
    await tx.query('delete from rollup_backfill where day = $1::timestamptz', [day]);
    return;
  }
  await tx.query(
    'update rollup_backfill set account_id = $2, check_id = $3 where day = $1::timestamptz',
    [day, after.accountId, after.checkId],
  );
}

/** Creates the missing partitions for roll-ups of these days. Safe on several replicas. */
export async function makeRollUpPartitions(
  sql: Sql,
  days: { readonly fromMs: number; readonly toMs: number; readonly quartersFromMs: number },
): Promise<void> {
  await sql.query('select make_rollup_partitions($1::date, $2::date, $3::date)::text', [
    isoDay(days.fromMs),
    isoDay(days.toMs),
    isoDay(days.quartersFromMs),
  ]);
}

/** @returns the name of the dropped partition; null if there is none to drop */
export async function dropRollUpPartition(
  store: Store,
  kept: { readonly quartersFromMs: number; readonly rollUpsFromMs: number },
): Promise<string | null> {
  return store.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = ${DROP_LOCK_WAIT_MS}`);
    const [row] = await tx.query<{ name: string | null }>(
      'select drop_oldest_rollup_partition($1::date, $2::date) as name',
      [isoDay(kept.quartersFromMs), isoDay(kept.rollUpsFromMs)],
    );
    return row?.name ?? null;
  });
}

/** @returns how many it removed */
export async function removeMissedDays(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `with removed as (
       delete from missed_days where ctid = any (array(
         select ctid from missed_days where start < $1::timestamptz limit $2::bigint))
       returning 1
     )
     select count(*) as count from removed`,
    [new Date(beforeMs), limit],
  );
  return rows[0]?.count ?? 0;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

import {
  type Aggregation,
  type AnalyticsGrouping,
  FIRST_MONDAY_MS,
  type Metric,
} from '../../model/result/analytics.ts';
import { readSnapshot } from '../database/read-snapshot.ts';
import type { Sql, Store } from '../database/store.ts';
import { planSegments } from './rollups/plan-segments.ts';
import {
  isOfRollUps,
  isRolled,
  type PointSpan,
  type RolledAggregation,
} from './rollups/rolled-up-queries.ts';
import {
  type AddParam,
  hasMoreSingleRuns,
  readRollUpState,
  rolledUpRunsSql,
} from './rollups/rolled-up-runs.sql.ts';
import { MEASURE_COLUMNS } from './run-metrics.sql.ts';

export interface SeriesQuery {
  readonly accountId: string;
  readonly checkId: string;
  /** Slots from `fromMs` to before `toMs`, epoch milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** null for all runs. */
  readonly passed: boolean | null;
  readonly groupBy: AnalyticsGrouping | null;
  readonly point: PointSpan;
  readonly metrics: readonly Metric[];
  /** The most series. */
  readonly limit: number;
  readonly offset: number;
  /** The most points of all series together. */
  readonly maxPoints: number;
}

/** One point of a series. The values are in the order of the metrics. */
export interface SeriesPoint {
  /** The location or status code of the series; null if there is none, or no grouping. */
  readonly group: string | number | null;
  readonly time: Date;
  readonly values: readonly (number | null)[];
}

type PointRow = Readonly<Record<`m${number}`, number | null>> & {
  readonly series: string | number | null;
  readonly time: Date;
};

/** The collation "C" is many times faster, and its order is the same in every database. */
const GROUP_COLUMNS: Readonly<Record<AnalyticsGrouping, string>> = {
  runLocation: 'run_location collate "C"',
  statusCode: 'status_code',
};

/** Enough to sort a month of runs every minute; PostgreSQL's default is 4 MB. */
const SORT_MEMORY = '32MB';

/** Aggregates a double precision column over runs. PostgreSQL computes equal ones once. */
const AGGREGATES: Readonly<Record<Aggregation, (column: string) => string>> = {
  avg: (column) => `avg(${column})`,
  max: (column) => `max(${column})`,
  min: (column) => `min(${column})`,
  stddev: (column) => `stddev_pop(${column})`,
  sum: (column) => `sum(${column})`,
  median: percentile(1),
  p50: percentile(1),
  p90: percentile(2),
  p95: percentile(3),
  p99: percentile(4),
};

/** Uses the same expression for all percentiles, so that PostgreSQL sorts the column only once. */
function percentile(position: number): (column: string) => string {
  return (column) =>
    `(percentile_cont(array[0.5, 0.9, 0.95, 0.99]) within group (order by ${column}))[${position}]`;
}

function ofOneRun({ of }: Metric): string {
  if (of === 'availability') return 'case when passed then 100 else 0 end';
  return of === 'retries' ? 'retries' : MEASURE_COLUMNS[of];
}

function ofManyRuns({ of, aggregation }: Metric): string {
  if (of === 'availability') return '100 * count(*) filter (where passed) / count(*)::float8';
  if (of === 'retries') return 'sum(retries)';
  return AGGREGATES[aggregation](MEASURE_COLUMNS[of]);
}

const ROLLED: Readonly<Record<RolledAggregation, (column: string) => string>> = {
  avg: (column) => `(sum(${column}_sum)::float8 / nullif(sum(${column}_count), 0))`,
  max: (column) => `max(${column}_max)`,
  min: (column) => `min(${column}_min)`,
  sum: (column) => `sum(${column}_sum)::float8`,
};

function ofRollUps({ of, aggregation }: Metric): string {
  if (of === 'availability') {
    return '100 * coalesce(sum(runs) filter (where passed), 0) / sum(runs)::float8';
  }
  if (of === 'retries') return 'sum(retries)';
  return isRolled(aggregation) ? ROLLED[aggregation](MEASURE_COLUMNS[of]) : 'null';
}

/** Limits on the runs to read. */
export interface ReadLimits {
  readonly nowMs: number;
  /** Runs outside of roll-ups; null for any number. */
  readonly maxRuns: number | null;
}

/**
 * Reads points sorted by the name of the series (null last), then by time. Intervals start at multiples of
 * their length since the first Monday of 1970; an interval without a run has no point.
 *
 * @returns which limit was exceeded, if one was
 */
export async function readSeries(
  store: Store,
  query: SeriesQuery,
  limits: ReadLimits,
): Promise<readonly SeriesPoint[] | 'too-many-points' | 'too-many-runs'> {
  const rows = isOfRollUps(query)
    ? await readRolled(store, query, limits)
    : await readRuns(store, query, limits);
  if (rows === null) return 'too-many-runs';
  if (rows.length > query.maxPoints) return 'too-many-points';
  return rows.map((row) => ({
    group: row.series,
    time: row.time,
    values: query.metrics.map((_, index) => row[`m${index}`] ?? null),
  }));
}

/** @returns null if there are more runs than allowed */
async function readRuns(
  store: Store,
  query: SeriesQuery,
  { maxRuns }: ReadLimits,
): Promise<readonly PointRow[] | null> {
  // The count is much faster than the report.
  if (maxRuns !== null && (await hasMoreRuns(store, query, maxRuns))) return null;
  const ofMany = { ofManyRuns, source: () => RUNS };
  const { text, params } = seriesSql(query, ofMany);
  return store.transaction(async (tx) => {
    await tx.query(`set local work_mem = '${SORT_MEMORY}'`);
    return tx.query<PointRow>(text, params);
  });
}

const RUNS = '(select * from result_metrics where account_id = $1)';

/** As `readRuns`, from roll-ups where they show all runs. */
async function readRolled(
  store: Store,
  query: SeriesQuery,
  { nowMs, maxRuns }: ReadLimits,
): Promise<readonly PointRow[] | null> {
  const { accountId, checkId, point, metrics } = query;
  const pointMinutes = typeof point === 'object' ? point.minutes : null;
  return readSnapshot(store, async (sql) => {
    const state = await readRollUpState(sql, { ...query, checkIds: [checkId] });
    const segments = planSegments({ ...query, pointMinutes, nowMs }, state);
    if (maxRuns !== null && (await hasMoreSingleRuns(sql, { accountId, segments }, maxRuns))) {
      return null;
    }
    const { text, params } = seriesSql(query, {
      ofManyRuns: ofRollUps,
      source: (param) => `(${rolledUpRunsSql(segments, measureColumnsOf(metrics), param)})`,
    });
    return sql.query<PointRow>(text, params);
  });
}

function measureColumnsOf(metrics: readonly Metric[]): readonly string[] {
  const columns = metrics.flatMap(({ of }) =>
    of === 'availability' || of === 'retries' ? [] : MEASURE_COLUMNS[of],
  );
  return [...new Set(columns)];
}

/** The account, the check and the window are $1 to $4. */
function seriesSql(
  query: SeriesQuery,
  {
    source,
    ofManyRuns,
  }: {
    readonly source: (param: AddParam) => string;
    readonly ofManyRuns: (metric: Metric) => string;
  },
): { readonly text: string; readonly params: readonly unknown[] } {
  const { metrics, groupBy } = query;
  const params: unknown[] = [
    query.accountId,
    query.checkId,
    new Date(query.fromMs),
    new Date(query.toMs),
    query.offset,
    query.limit,
    query.maxPoints + 1,
  ];
  const param = (value: unknown): string => `$${params.push(value)}`;
  const series = groupBy === null ? null : GROUP_COLUMNS[groupBy];
  const { time, isGrouped, grouped } = spanSql(query.point, series, param);
  const columnOf = isGrouped ? ofManyRuns : ofOneRun;
  const status = query.passed === null ? '' : `and passed = ${param(query.passed)}::boolean`;
  const text = `select * from (
       select ${series ?? 'null'} as series, ${time} as time,
         ${series === null ? '1' : `dense_rank() over (order by ${series} nulls last)`} as position
         ${metrics.map((metric, index) => `, ${columnOf(metric)} as m${index}`).join('')}
       from ${source(param)} as runs
       where check_id = $2 and slot >= $3::timestamptz and slot < $4::timestamptz ${status}
       ${grouped}
     ) as points
     where position > $5::bigint and position <= $5::bigint + $6::bigint
     order by position, time limit $7::bigint`;
  return { text, params };
}

/** Whether the window has more runs. */
async function hasMoreRuns(
  sql: Sql,
  {
    accountId,
    checkId,
    fromMs,
    toMs,
  }: Pick<SeriesQuery, 'accountId' | 'checkId' | 'fromMs' | 'toMs'>,
  runs: number,
): Promise<boolean> {
  const rows = await sql.query(
    `select from result_metrics
     where account_id = $1 and check_id = $2
       and slot >= $3::timestamptz and slot < $4::timestamptz
     offset $5::bigint limit 1`,
    [accountId, checkId, new Date(fromMs), new Date(toMs), runs],
  );
  return rows.length > 0;
}

/** The parts of the statement that depend on the span of a point. */
function spanSql(
  point: PointSpan,
  series: string | null,
  placeholder: (value: unknown) => string,
): {
  readonly time: string;
  /** Whether a point has several runs. */
  readonly isGrouped: boolean;
  readonly grouped: string;
} {
  if (point === 'run') return { time: 'slot', isGrouped: false, grouped: '' };
  const bySeries = series === null ? '' : `group by ${series}`;
  if (point === 'window') {
    // Otherwise a window without runs would give a row.
    const grouped = `${bySeries} having count(*) > 0`;
    return { time: '$3::timestamptz', isGrouped: true, grouped };
  }
  const minutes = placeholder(point.minutes);
  const first = placeholder(new Date(FIRST_MONDAY_MS));
  return {
    time: `date_bin(make_interval(mins => ${minutes}::int), slot, ${first}::timestamptz)`,
    isGrouped: true,
    grouped: series === null ? 'group by time' : `${bySeries}, time`,
  };
}

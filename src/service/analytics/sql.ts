import {
  type Aggregation,
  type AnalyticsGrouping,
  FIRST_MONDAY_MS,
  type Metric,
} from '../../model/result/analytics.ts';
import type { Sql, Store } from '../database/port.ts';
import { MEASURE_COLUMNS } from './metrics.sql.ts';

/** Of what each point is told: every run, a span of so many minutes, or the whole window. */
export type PointSpan = 'run' | 'window' | { readonly minutes: number };

export interface SeriesQuery {
  readonly accountId: string;
  readonly checkId: string;
  /** Epoch milliseconds of slots: from is in it, to is not. */
  readonly fromMs: number;
  readonly toMs: number;
  /** null for all runs. */
  readonly passed: boolean | null;
  readonly groupBy: AnalyticsGrouping | null;
  readonly point: PointSpan;
  readonly metrics: readonly Metric[];
  /** Of series. */
  readonly limit: number;
  readonly offset: number;
  /** Of all series together. */
  readonly maxPoints: number;
}

/** One point of a series. The values are in the order of the metrics. */
export interface SeriesPoint {
  /** The location or status code of the series; null where there is none, or no grouping. */
  readonly group: string | number | null;
  readonly time: Date;
  readonly values: readonly (number | null)[];
}

type PointRow = Readonly<Record<`m${number}`, number | null>> & {
  readonly series: string | number | null;
  readonly time: Date;
};

/** Sorted by "C", names take a fraction of the time, and come in the same order in every database. */
const GROUP_COLUMNS: Readonly<Record<AnalyticsGrouping, string>> = {
  runLocation: 'run_location collate "C"',
  statusCode: 'status_code',
};

/** A month of a check that runs every minute is sorted in it, where the usual 4 MB would not do. */
const SORT_MEMORY = '32MB';

/** Of a double precision column, over runs. Two that are the same are computed once. */
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

/** All of them by one sort of the column, whichever are asked for. */
function percentile(place: number): (column: string) => string {
  return (column) =>
    `(percentile_cont(array[0.5, 0.9, 0.95, 0.99]) within group (order by ${column}))[${place}]`;
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

/**
 * Points by series, in the order of their names and without one last, and in a series by time. A
 * span begins at a multiple of its minutes since the first Monday of 1970; one without a run gives
 * no point.
 *
 * @returns null where there are more than `maxPoints`
 */
export async function readSeries(
  store: Store,
  query: SeriesQuery,
): Promise<readonly SeriesPoint[] | null> {
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
  const place = (value: unknown): string => `$${params.push(value)}`;
  const series = groupBy === null ? null : GROUP_COLUMNS[groupBy];
  const { time, columnOf, grouped } = spanSql(query.point, series, place);
  const status = query.passed === null ? '' : `and passed = ${place(query.passed)}::boolean`;
  const text = `select * from (
       select ${series ?? 'null'} as series, ${time} as time,
         ${series === null ? '1' : `dense_rank() over (order by ${series} nulls last)`} as place
         ${metrics.map((metric, index) => `, ${columnOf(metric)} as m${index}`).join('')}
       from result_metrics
       where account_id = $1 and check_id = $2
         and slot >= $3::timestamptz and slot < $4::timestamptz ${status}
       ${grouped}
     ) as points
     where place > $5::bigint and place <= $5::bigint + $6::bigint
     order by place, time limit $7::bigint`;
  const rows = await store.transaction(async (tx) => {
    await tx.query(`set local work_mem = '${SORT_MEMORY}'`);
    return tx.query<PointRow>(text, params);
  });
  if (rows.length > query.maxPoints) return null;
  return rows.map((row) => ({
    group: row.series,
    time: row.time,
    values: metrics.map((_, index) => row[`m${index}`] ?? null),
  }));
}

/** Whether a report would read more runs than that. In a fraction of the time of the report. */
export async function hasMoreRuns(
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

/** What makes points of the rows. */
function spanSql(
  point: PointSpan,
  series: string | null,
  place: (value: unknown) => string,
): {
  readonly time: string;
  readonly columnOf: (metric: Metric) => string;
  readonly grouped: string;
} {
  if (point === 'run') return { time: 'slot', columnOf: ofOneRun, grouped: '' };
  const bySeries = series === null ? '' : `group by ${series}`;
  if (point === 'window') {
    // Else no run at all would give a row, too.
    const grouped = `${bySeries} having count(*) > 0`;
    return { time: '$3::timestamptz', columnOf: ofManyRuns, grouped };
  }
  const minutes = place(point.minutes);
  const first = place(new Date(FIRST_MONDAY_MS));
  return {
    time: `date_bin(make_interval(mins => ${minutes}::int), slot, ${first}::timestamptz)`,
    columnOf: ofManyRuns,
    grouped: series === null ? 'group by time' : `${bySeries}, time`,
  };
}

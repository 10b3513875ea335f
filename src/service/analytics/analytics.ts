import type { Check } from '../../model/check/check.ts';
import type { RunnableCheckType } from '../../model/enums.ts';
import {
  ANALYTICS_PATHS,
  type AnalyticsGrouping,
  type Metric,
  type RunStatus,
} from '../../model/result/analytics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { invalid, ServiceError } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  type AskedWindow,
  inTime,
  MAX_RUNS_EMBEDDED,
  reportWindow,
  tooLong,
} from './report-limits.ts';
import { createReportQueue, type ReportQueue } from './report-queue.ts';
import type { PointSpan } from './rollups/rolled-up-queries.ts';
import { readSeries, type SeriesPoint, type SeriesQuery } from './sql.ts';

export interface AnalyticsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The queue for all reports of the service. Default: a queue of its own. */
  readonly queue?: ReportQueue;
  /** Maximum number of runs of one report in the embedded database. Default: 300,000. */
  readonly maxRunsEmbedded?: number;
}

/** The query of a report. Its page is a page of series. */
export interface AnalyticsQuery extends Page, AskedWindow {
  readonly aggregationMinutes: number | null;
  /** Only runs with these statuses; empty for all. */
  readonly statuses: readonly RunStatus[];
  readonly groupBy: AnalyticsGrouping | null;
  /** At least one, without duplicates. */
  readonly metrics: readonly Metric[];
}

export type Point = Readonly<Record<string, string | number | null>> & { readonly time: string };

export interface Series {
  /** null without a grouping, and for runs without a status code. */
  readonly group: string | number | null;
  /** By time. */
  readonly data: readonly Point[];
}

export interface AnalyticsReport {
  readonly check: Check;
  readonly fromMs: number;
  readonly toMs: number;
  readonly series: readonly Series[];
}

/** Metrics of checks over time: src/service/README.md, "Analytics". */
export interface Analytics {
  /**
   * @throws ServiceError 404 where the account has no such check of that type; 400 for a window that
   *   ends before it starts or has too many runs, and for points with more than 100,000 values; 503
   *   where too many reports wait
   */
  report(
    accountId: string,
    checkId: string,
    checkType: RunnableCheckType,
    query: AnalyticsQuery,
  ): Promise<AnalyticsReport>;
}

/** As many values take some tenths of a second to read and send. */
const MAX_VALUES = 100_000;

export function createAnalytics({
  store,
  clock,
  queue = createReportQueue({ store, clock }),
  maxRunsEmbedded = MAX_RUNS_EMBEDDED,
}: AnalyticsParts): Analytics {
  /**
   * @returns null if there are too many points
   * @throws ServiceError 400 where the window has too many runs
   */
  async function read(query: SeriesQuery): Promise<readonly SeriesPoint[] | null> {
    const maxRuns = store.kind === 'pglite' ? maxRunsEmbedded : null;
    const found = await inTime(() => readSeries(store, query, { nowMs: clock.wallMs(), maxRuns }));
    if (found === 'too-many-runs') {
      throw tooLong(`the window has more than ${maxRunsEmbedded} runs`);
    }
    return found === 'too-many-points' ? null : found;
  }

  async function requireCheck(
    { accountId, id }: AccountKey,
    type: RunnableCheckType,
  ): Promise<Check> {
    const found = await findCheck(store, { accountId, id });
    if (found?.check.checkType === type) return found.check;
    const resource = `${type} check`;
    const attributes = { resource };
    if (found === null) {
      throw new ServiceError(404, `There is no such ${resource}`, { attributes });
    }
    const { checkType } = found.check;
    const path = Object.entries(ANALYTICS_PATHS).find(([known]) => known === checkType)?.[1];
    const hint =
      path === undefined ? ', which has no reports' : `; see /v1/analytics/${path}/${id}`;
    throw new ServiceError(404, `There is no such ${resource}: it is of type ${checkType}${hint}`, {
      attributes: { ...attributes, checkType },
    });
  }

  return {
    async report(accountId, checkId, checkType, query) {
      const check = await requireCheck({ accountId, id: checkId }, checkType);
      const { fromMs, toMs } = reportWindow(query, clock.wallMs());
      const { metrics, groupBy, page } = query;
      if (groupBy === null && page > 1) return { check, fromMs, toMs, series: [] };
      const asked = {
        accountId,
        checkId,
        fromMs,
        toMs,
        passed: passedOf(query.statuses),
        groupBy,
        point: pointSpanOf(query),
        metrics,
        ...rangeOf(query),
        maxPoints: Math.floor(MAX_VALUES / metrics.length),
      };
      const points = await queue.run(accountId, () => read(asked));
      if (points === null) throw tooMany(query);
      return { check, fromMs, toMs, series: seriesOf(points, query) };
    },
  };
}

/**
 * Plain metrics alone have one point for each run. Availability and retries are computed from several
 * runs: alone they have one point for the whole window.
 */
function pointSpanOf({ aggregationMinutes, metrics }: AnalyticsQuery): PointSpan {
  if (aggregationMinutes !== null) return { minutes: aggregationMinutes };
  const hasRawForm = metrics.some(({ of }) => of !== 'availability' && of !== 'retries');
  return hasRawForm && metrics.every(({ isPlain }) => isPlain) ? 'run' : 'window';
}

function passedOf(statuses: readonly RunStatus[]): boolean | null {
  const [first, ...others] = new Set(statuses);
  return first === undefined || others.length > 0 ? null : first === 'success';
}

function tooMany({ aggregationMinutes }: AnalyticsQuery): ServiceError {
  const wanted = aggregationMinutes === null ? 'given' : 'longer';
  const message = `must be ${wanted}, or the window shorter, or the metrics fewer: points times metrics are more than ${MAX_VALUES}`;
  return invalid([{ path: 'query.aggregationInterval', message }]);
}

function seriesOf(
  points: readonly SeriesPoint[],
  { metrics, groupBy }: AnalyticsQuery,
): readonly Series[] {
  const names = metrics.map(({ name }) => name);
  const series: { group: Series['group']; data: Point[] }[] = [];
  for (const { group, time, values } of points) {
    let last = series.at(-1);
    if (last === undefined || last.group !== group) {
      last = { group, data: [] };
      series.push(last);
    }
    const point: Record<string, string | number | null> = {};
    for (const [index, name] of names.entries()) point[name] = values[index] ?? null;
    last.data.push({ time: time.toISOString(), ...point });
  }
  return groupBy === null && series.length === 0 ? [{ group: null, data: [] }] : series;
}

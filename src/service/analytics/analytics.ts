import type { Check } from '../../model/check/check.ts';
import {
  ANALYTICS_PATHS,
  type AnalyticsGrouping,
  type Metric,
  type QuickRange,
  quickRangeAt,
  type RunStatus,
} from '../../model/result/analytics.ts';
import type { RunnableCheckType } from '../../model/vocabulary.ts';
import { findCheck } from '../checks/exports.ts';
import { invalid, ServiceError } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { type BoundedReadParts, createBoundedRead } from './read-bounded.ts';
import type { PointSpan, SeriesPoint } from './sql.ts';

/** The page is one of series. */
export interface AnalyticsQuery extends Page {
  readonly quickRange: QuickRange;
  /** Epoch milliseconds, in place of the beginning of quickRange; null leaves it. */
  readonly fromMs: number | null;
  /** The same of its end. */
  readonly toMs: number | null;
  readonly aggregationMinutes: number | null;
  /** Only runs that ended so; none given, all. */
  readonly statuses: readonly RunStatus[];
  readonly groupBy: AnalyticsGrouping | null;
  /** One at least, each once. */
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

/** How checks did over time: src/service/README.md, "Analytics". */
export interface Analytics {
  /**
   * @throws ServiceError 404 where the account has no such check of that type, 400 for a window that
   *   ends before it begins or has too many runs to be reported on, or where the points would have
   *   more than 100,000 values, 503 where too many reports are asked for at once
   */
  report(
    accountId: string,
    checkId: string,
    checkType: RunnableCheckType,
    query: AnalyticsQuery,
  ): Promise<AnalyticsReport>;
}

/** What takes some tenths of a second to be read and sent. */
const MAX_VALUES = 100_000;

export function createAnalytics(parts: BoundedReadParts): Analytics {
  const { store, clock } = parts;
  const read = createBoundedRead(parts);

  async function mustBe(accountId: string, id: string, type: RunnableCheckType): Promise<Check> {
    const found = await findCheck(store, { accountId, id });
    if (found?.check.checkType === type) return found.check;
    const resource = `${type} check`;
    const attributes = { resource };
    if (found === null) {
      throw new ServiceError(404, `There is no such ${resource}`, { attributes });
    }
    const { checkType } = found.check;
    const path = Object.entries(ANALYTICS_PATHS).find(([known]) => known === checkType)?.[1];
    const place = path === undefined ? ', which has none' : `; see /v1/analytics/${path}/${id}`;
    throw new ServiceError(
      404,
      `There is no such ${resource}: it is of type ${checkType}${place}`,
      { attributes: { ...attributes, checkType } },
    );
  }

  return {
    async report(accountId, checkId, checkType, query) {
      const check = await mustBe(accountId, checkId, checkType);
      const named = quickRangeAt(query.quickRange, clock.wallMs());
      const fromMs = query.fromMs ?? named.fromMs;
      const toMs = query.toMs ?? named.toMs;
      if (toMs < fromMs) {
        const [begin, end] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
        const message = `must not be before the beginning of the window: ${end} is before ${begin}`;
        throw invalid([{ path: 'query.to', message }]);
      }
      const { metrics, groupBy, page } = query;
      if (groupBy === null && page > 1) return { check, fromMs, toMs, series: [] };
      const points = await read({
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
      });
      if (points === null) throw tooMany(query);
      return { check, fromMs, toMs, series: seriesOf(points, query) };
    },
  };
}

/**
 * Plain names of measures are told of each run, unless something else is to be told of several. A
 * share of runs that passed is of several by its nature, and so is a number of retries.
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

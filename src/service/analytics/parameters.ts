import { z } from 'zod';
import type { RunnableCheckType } from '../../model/enums.ts';
import {
  AGGREGATION_INTERVAL,
  ANALYTICS_GROUPINGS,
  ANALYTICS_METRICS,
  type AnalyticsGrouping,
  type Metric,
  QUICK_RANGES,
  RUN_STATUSES,
} from '../../model/result/analytics.ts';
import { editDistance } from '../../runtime/text/edit-distance.ts';
import { pageQuery, queryNumber } from '../http/resources/parameters.ts';
import { windowQuery } from '../http/resources/window-parameters.ts';

/** A list parameter: repeated, or separated by commas. Drops duplicates. */
function commaList<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => {
    if (value === undefined) return undefined;
    const parts = [value]
      .flat()
      .flatMap((one) => (typeof one === 'string' ? one.split(',') : [one]));
    return [...new Set(parts)];
  }, z.array(item).min(1));
}

/** Longer names are not typing errors, and slow to compare. */
const LONGEST_TYPO = 40;

function nearestMetric(given: string, known: Iterable<string>): string | null {
  if (given.length > LONGEST_TYPO) return null;
  let best: string | null = null;
  let bestDistance = Math.floor(given.length / 3) + 1;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

function metricName(checkType: RunnableCheckType) {
  const metrics = ANALYTICS_METRICS[checkType];
  const plain = [...metrics.values()].flatMap(({ isPlain, name }) => (isPlain ? [name] : []));
  return z
    .string()
    .refine((name) => metrics.has(name), {
      error: ({ input }) => {
        const nearest = nearestMetric(String(input), metrics.keys());
        const hint =
          nearest === null ? `the plain ones are ${plain.join(', ')}` : `did you mean ${nearest}?`;
        const shown = JSON.stringify(String(input).slice(0, LONGEST_TYPO));
        return `must be a metric of ${checkType} checks, not ${shown}; ${hint}`;
      },
    })
    .meta({ enum: [...metrics.keys()] });
}

export function metricsNamed(checkType: RunnableCheckType, names: readonly string[]): Metric[] {
  return names.flatMap((name) => ANALYTICS_METRICS[checkType].get(name) ?? []);
}

/** Only HTTP answers have a status code. */
function groupingsOf(
  checkType: RunnableCheckType,
): readonly [AnalyticsGrouping, ...AnalyticsGrouping[]] {
  return checkType === 'API' || checkType === 'URL' ? ANALYTICS_GROUPINGS : ['runLocation'];
}

/** The window of a report. */
export const reportWindowQuery = {
  quickRange: z
    .enum(QUICK_RANGES)
    .default('last24Hours')
    .describe(
      'The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole.',
    ),
  from: windowQuery.from.describe(
    'UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange.',
  ),
  to: windowQuery.to.describe(
    'UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange.',
  ),
};

/** The query of src/service/README.md, "Analytics". */
export function analyticsQuery(checkType: RunnableCheckType) {
  return z.strictObject({
    metrics: commaList(metricName(checkType)).describe(
      'Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval.',
    ),
    ...reportWindowQuery,
    aggregationInterval: z
      .preprocess(
        queryNumber,
        z.int().min(AGGREGATION_INTERVAL.min).max(AGGREGATION_INTERVAL.max).optional(),
      )
      .describe(
        'Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point.',
      ),
    filterByStatus: commaList(z.enum(RUN_STATUSES))
      .optional()
      .describe('Only runs with this status; degraded counts as success. If omitted, all.'),
    groupBy: z
      .enum(groupingsOf(checkType))
      .optional()
      .describe('One series for each of these. If omitted, one series of all runs.'),
    limit: pageQuery.limit.describe('The most series, 1 to 100; if omitted, 10.'),
    page: pageQuery.page.describe('The page of series, from 1; if omitted, the first.'),
  });
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CHECK_TYPES, type RunnableCheckType } from '../../model/enums.ts';
import {
  AGGREGATIONS,
  ANALYTICS_PATHS,
  type AnalyticsGrouping,
  METRIC_UNITS,
  type Metric,
} from '../../model/result/analytics.ts';
import { callerOf } from '../http/access/authentication.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import type { Page } from '../http/resources/paging.ts';
import { checkTypeOf, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { parseWindow } from '../http/resources/window-parameters.ts';
import type { Analytics, AnalyticsReport } from './analytics.ts';
import { analyticsQuery, metricsNamed } from './parameters.ts';
import { REPORTS_PER_MINUTE } from './report-limits.ts';

const params = z.object({ id: checkId });

const point = z
  .object({
    time: z.iso.datetime().describe('The slot of the run, or the start of the interval.'),
  })
  .catchall(z.number().nullable())
  .describe('The time, and each metric by its name; null if no run had it.');

const response = z
  .strictObject({
    checkId: SHOWN_CHECK.checkId,
    name: SHOWN_CHECK.name,
    checkType: checkTypeOf(CHECK_TYPES),
    activated: SHOWN_CHECK.activated,
    muted: SHOWN_CHECK.muted,
    frequency: z.number().describe('Minutes between runs.'),
    from: z.iso.datetime().describe('The start of the window, inclusive.'),
    to: z.iso.datetime().describe('The end of the window, exclusive.'),
    tags: SHOWN_CHECK.tags,
    series: z
      .array(
        z.strictObject({
          runLocation: z.string().optional().describe('With groupBy=runLocation.'),
          statusCode: z
            .number()
            .nullable()
            .optional()
            .describe('With groupBy=statusCode; null for the runs without an answer.'),
          data: z.array(point).describe('By time.'),
        }),
      )
      .describe('One, or with groupBy one for each group.'),
    pagination: z
      .strictObject({
        page: z.number().describe('Which page, counted from 1.'),
        limit: z.number().describe('How many series a page has at most.'),
      })
      .describe('The page of series.'),
    metadata: z
      .record(
        z.string(),
        z.strictObject({
          unit: z.enum(METRIC_UNITS).describe('The unit of its values.'),
          label: z.string().describe('Its name for people.'),
          aggregation: z
            .enum(Object.keys(AGGREGATIONS) as (keyof typeof AGGREGATIONS)[])
            .describe('How a point combines several runs.'),
        }),
      )
      .describe('Each metric by its name.'),
  })
  .meta({ title: 'AnalyticsReport' });

/** Reports on checks of each type: src/service/README.md, "Analytics". */
export function analyticsRoutes({
  analytics,
}: {
  readonly analytics: Analytics;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    for (const [type, path] of Object.entries(ANALYTICS_PATHS)) {
      const checkType = type as RunnableCheckType;
      app.get(
        `/v1/analytics/${path}/:id`,
        {
          config: { role: 'read', rateLimit: { max: REPORTS_PER_MINUTE } },
          schema: {
            tags: ['Analytics'],
            operationId: `get${checkType.charAt(0)}${checkType.slice(1).toLowerCase()}Analytics`,
            summary: `Report how ${/^[AI]/.test(checkType) ? 'an' : 'a'} ${checkType} check did over time`,
            params,
            querystring: analyticsQuery(checkType),
            response: { 200: response },
          },
        },
        async (request) => {
          const { quickRange, filterByStatus, limit, page, ...asked } = request.query;
          const metrics = metricsNamed(checkType, asked.metrics);
          const groupBy = asked.groupBy ?? null;
          const { accountId } = callerOf(request);
          const report = await analytics.report(accountId, request.params.id, checkType, {
            quickRange,
            ...parseWindow(asked),
            aggregationMinutes: asked.aggregationInterval ?? null,
            statuses: filterByStatus ?? [],
            groupBy,
            metrics,
            limit,
            page,
          });
          return presentReport(report, { metrics, groupBy, limit, page });
        },
      );
    }
  };
}

function presentReport(
  { check, fromMs, toMs, series }: AnalyticsReport,
  {
    metrics,
    groupBy,
    limit,
    page,
  }: Page & { readonly metrics: readonly Metric[]; readonly groupBy: AnalyticsGrouping | null },
): z.output<typeof response> {
  return {
    checkId: check.id,
    name: check.name,
    checkType: check.checkType,
    activated: check.activated,
    muted: check.muted,
    frequency: check.frequency,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    tags: [...check.tags],
    // TypeScript cannot express the metrics of a point beside its time.
    series: series.map(({ group, data }) => ({
      ...(groupBy === null ? {} : { [groupBy]: group }),
      data,
    })) as unknown as z.output<typeof response>['series'],
    pagination: { page, limit },
    metadata: Object.fromEntries(
      metrics.map(({ name, unit, label, aggregation }) => [name, { unit, label, aggregation }]),
    ),
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../../model/enums.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { checkFilters, filterOf, MAX_FILTERS } from '../../http/resources/check-parameters.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { pageQuery, repeatable } from '../../http/resources/parameters.ts';
import { parseWindow } from '../../http/resources/window-parameters.ts';
import { reportWindowQuery } from '../parameters.ts';
import { REPORTS_PER_MINUTE } from '../report-limits.ts';
import type { CheckSummaries, CheckSummary } from './summaries.ts';

function msOf(phase: string) {
  return z.number().nullable().optional().describe(`${phase}, in milliseconds.`);
}

const summary = z.strictObject({
  checkId: z.string().describe('The id of the check.'),
  name: z.string().describe('Its name.'),
  checkType: z.enum(RUNNABLE_CHECK_TYPES).describe('Its type.'),
  activated: z.boolean().describe('Whether it runs.'),
  muted: z.boolean().describe('Whether it sends no notifications.'),
  tags: z.array(z.string()).describe('Its tags.'),
  groupId: z.number().nullable().describe('The id of its group; null without one.'),
  from: z.iso.datetime().describe('The start of the window, inclusive: a whole hour (UTC).'),
  to: z.iso
    .datetime()
    .describe(
      'The end of the window, exclusive: of a whole hour (UTC) unless it is within the last one, or later.',
    ),
  availability: z
    .number()
    .nullable()
    .describe('The percentage of runs that passed, degraded ones included; null without runs.'),
  runs: z
    .int()
    .describe('Without cancelled runs, and without those that failed by a fault of the system.'),
  failures: z.int().describe('The runs that failed.'),
  degraded: z.int().describe('The runs that passed, but were degraded.'),
  responseTime: z
    .strictObject({
      avg: z.number().describe('The average.'),
      min: z.number().describe('The shortest.'),
      max: z.number().describe('The longest.'),
    })
    .nullable()
    .describe('Milliseconds; of ICMP checks the latency. null if no run has one.'),
  packetLoss: z
    .number()
    .nullable()
    .describe('Percent on average, of ICMP checks; null for others, and if no run has it.'),
  phases: z
    .strictObject({
      wait: msOf('Waiting for a connection'),
      dns: msOf('Resolving the name'),
      tcp: msOf('Opening the connection, without TLS'),
      connection: msOf('Opening the connection, with TLS'),
      firstByte: msOf('From the request to the first byte'),
      download: msOf('From the first byte to the last'),
      data: msOf('From the connection to the end of the exchange'),
    })
    .describe(
      'The average of each phase that the type has, in milliseconds: for URL and API checks wait, dns, tcp, firstByte and download, for TCP checks dns, connection and data. null if no run has it.',
    ),
});

const listQuery = z.strictObject({
  type: repeatable(z.enum(RUNNABLE_CHECK_TYPES), MAX_FILTERS).describe(
    'Only checks of this type; if repeated, of any of these types. If omitted, all except heartbeats, which have no runs.',
  ),
  ...checkFilters,
  ...reportWindowQuery,
  ...pageQuery,
});

/** How many checks did in a window: src/service/README.md, "Summaries of many checks". */
export function checkSummariesRoutes({
  checkSummaries,
}: {
  readonly checkSummaries: CheckSummaries;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/analytics/summaries',
      {
        config: { ...READ, rateLimit: { max: REPORTS_PER_MINUTE } },
        schema: {
          tags: ['Analytics'],
          operationId: 'listCheckSummaries',
          summary: 'List how checks did in a window, by name',
          description:
            'Availability, response time and phases of each check that matches, from roll-ups.',
          querystring: listQuery,
          response: { 200: z.array(summary) },
        },
      },
      async (request, reply) => {
        const {
          type,
          quickRange,
          from,
          to,
          limit: _,
          page: __,
          cursor: ___,
          ...given
        } = request.query;
        const { accountId } = callerOf(request);
        const types = type.length === 0 ? RUNNABLE_CHECK_TYPES : type;
        const found = await checkSummaries.list(accountId, {
          filter: filterOf(given, types),
          quickRange,
          ...parseWindow({ from, to }),
          ...pageOf(request, reply),
        });
        return found.map(presentSummary);
      },
    );
  };
}

function presentSummary({
  check,
  fromMs,
  toMs,
  runs,
  failures,
  degraded,
  responseTime,
  packetLoss,
  phases,
}: CheckSummary): z.output<typeof summary> {
  return {
    ...check,
    tags: [...check.tags],
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    availability: runs === 0 ? null : (100 * (runs - failures)) / runs,
    runs,
    failures,
    degraded,
    responseTime,
    packetLoss,
    phases: Object.fromEntries(phases),
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { checkId } from '../../http/resources/check-parameters.ts';
import { queryNumber } from '../../http/resources/parameters.ts';
import { SHOWN_CHECK } from '../../http/resources/shown-fields.ts';
import type { Availability, CheckAvailability, IntervalCounts } from './availability.ts';

const DEFAULT_DAYS = 90;
const MAX_DAYS = 400;

const counts = {
  availability: z
    .number()
    .nullable()
    .describe('The percentage of runs that passed, degraded ones included; null without runs.'),
  runs: z
    .int()
    .describe(
      'Without cancelled runs, and without those that failed by a fault of the system. Of a heartbeat: the minutes since its first ping, in `days` only.',
    ),
  failures: z
    .int()
    .describe('The runs that failed. Of a heartbeat: the minutes in which a ping was overdue.'),
  degraded: z.int().describe('The runs that passed, but took longer than degradedResponseTime.'),
};
const missed = z.int().describe('Slots that were not run. Availability does not contain them.');

const response = z.strictObject({
  checkId: SHOWN_CHECK.checkId,
  ...counts,
  missed,
  usualResponseTime: z
    .number()
    .nullable()
    .describe(
      'An estimate in milliseconds: the median of the daily averages of passed runs in the last 7 days (UTC); before the first complete day, of the hourly averages. For ICMP checks, it is that of the average latency. null before the first complete hour.',
    ),
  days: z
    .array(z.strictObject({ date: z.iso.date().describe('The day, in UTC.'), ...counts, missed }))
    .describe('Days in UTC, the current one last.'),
  quarterHours: z
    .array(
      z.strictObject({
        start: z.iso.datetime().describe('When the quarter hour begins.'),
        ...counts,
      }),
    )
    .describe('The last 24 hours by quarter hours, the current one last.'),
});

/** The availability of checks by day: src/service/README.md, "Analytics". */
export function availabilityRoutes({
  availability,
}: {
  readonly availability: Availability;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/checks/:checkId/availability',
      {
        config: READ,
        schema: {
          tags: ['Analytics'],
          operationId: 'getAvailability',
          summary: 'Read the availability of a check by day and by quarter hour',
          params: z.object({ checkId }),
          querystring: z.strictObject({
            days: z
              .preprocess(queryNumber, z.int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS))
              .describe(`How many days, with the current one; if omitted, ${DEFAULT_DAYS}.`),
          }),
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        const { checkId: id } = request.params;
        const found = await availability.ofCheck({ accountId, id }, request.query.days);
        return presentAvailability(id, found);
      },
    );
  };
}

function presentAvailability(
  id: string,
  { days, quarterHours, usualResponseTime }: CheckAvailability,
): z.output<typeof response> {
  const sum = (of: (day: CheckAvailability['days'][number]) => number): number =>
    days.reduce((total, day) => total + of(day), 0);
  const total = {
    runs: sum(({ runs }) => runs),
    failures: sum(({ failures }) => failures),
    degraded: sum(({ degraded }) => degraded),
  };
  return {
    checkId: id,
    ...presentCounts(total),
    missed: sum((day) => day.missed),
    usualResponseTime,
    days: days.map((day) => ({
      date: new Date(day.startMs).toISOString().slice(0, 10),
      ...presentCounts(day),
      missed: day.missed,
    })),
    quarterHours: quarterHours.map((quarter) => ({
      start: new Date(quarter.startMs).toISOString(),
      ...presentCounts(quarter),
    })),
  };
}

function presentCounts({ runs, failures, degraded }: Omit<IntervalCounts, 'startMs'>): {
  readonly availability: number | null;
  readonly runs: number;
  readonly failures: number;
  readonly degraded: number;
} {
  const availability = runs === 0 ? null : (100 * (runs - failures)) / runs;
  return { availability, runs, failures, degraded };
}

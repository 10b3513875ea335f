import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CHECK_STATES, type CheckState } from '../../../model/result/check-state.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { checkFilters, filterOf, typeFilter } from '../../http/resources/check-parameters.ts';
import { BREAKDOWNS } from './breakdown-by.ts';
import { type CheckStatuses, MAX_BREAKDOWN } from './check-statuses.ts';

const TAGS = ['Check statuses'];

const filters = { type: typeFilter, ...checkFilters };
const counts = z.strictObject(
  Object.fromEntries(
    CHECK_STATES.map((state) => [state, z.int().describe(`How many checks are ${state}.`)]),
  ) as Record<CheckState, z.ZodInt>,
);

const breakdown = z.strictObject({
  entries: z
    .array(
      z.strictObject({
        value: z
          .string()
          .nullable()
          .describe(
            'The tag, the id of the group, or the location, as the filter takes it; null: the checks without any.',
          ),
        name: z.string().nullable().describe('Of a group or a private location; null otherwise.'),
        silentSince: z.iso
          .datetime()
          .nullable()
          .describe('Since when no agent of the private location polls; null otherwise.'),
        counts: counts.describe('How many of its checks are in each state.'),
      }),
    )
    .describe(
      'Those with the most failing checks first, then those with the most degraded and the most unknown ones, then by name.',
    ),
  omitted: z.int().describe(`How many more there are, after the first ${MAX_BREAKDOWN}.`),
});

/** How many checks are in each state: src/service/README.md, "Check statuses". */
export function checkStateCountsRoutes({
  checkStatuses,
}: {
  readonly checkStatuses: Pick<CheckStatuses, 'count' | 'breakDown'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/check-state-counts',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckStateCounts',
          summary: 'Count the checks in each state',
          querystring: z.strictObject(filters),
          response: { 200: counts.describe('How many checks are in each state.') },
        },
      },
      async (request) => {
        const { type, ...given } = request.query;
        return checkStatuses.count(callerOf(request).accountId, filterOf(given, type));
      },
    );

    app.get(
      '/v1/check-state-breakdown',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckStateBreakdown',
          summary: 'Count the checks in each state by tag, group or location',
          description: 'A check counts for each of its tags, and for each of its locations.',
          querystring: z.strictObject({
            by: z.enum(BREAKDOWNS).describe('By what the checks are parted.'),
            ...filters,
          }),
          response: { 200: breakdown.describe('The counts of each tag, group or location.') },
        },
      },
      async (request) => {
        const { type, by, ...given } = request.query;
        const filter = filterOf(given, type);
        const { accountId } = callerOf(request);
        const { entries, omitted } = await checkStatuses.breakDown(accountId, by, filter);
        return {
          entries: entries.map(({ value, name, silentSince, ...counted }) => ({
            value,
            name,
            silentSince: silentSince?.toISOString() ?? null,
            counts: counted,
          })),
          omitted,
        };
      },
    );
  };
}

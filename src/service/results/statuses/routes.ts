import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { STORED_CHECK_TYPES } from '../../../model/enums.ts';
import { CHECK_STATES } from '../../../model/result/check-state.ts';
import { callerOf } from '../../http/access/authentication.ts';
import {
  checkFilters,
  checkId,
  filterOf,
  READ,
  typeFilter,
} from '../../http/resources/check-parameters.ts';
import { pageQuery } from '../../http/resources/parameters.ts';
import { TIMES } from '../../http/resources/resource-schemas.ts';
import type { CheckStatuses, CheckWithStatus } from './check-statuses.ts';
import { STATUS_ORDERS } from './status-order.ts';

const TAGS = ['Check statuses'];

const status = z.strictObject({
  name: z.string(),
  checkId: z.string(),
  checkType: z.enum(STORED_CHECK_TYPES),
  activated: z.boolean(),
  muted: z.boolean(),
  tags: z.array(z.string()),
  groupId: z.number().nullable(),
  state: z
    .enum(CHECK_STATES)
    .describe('unknown: no run has judged the target. paused: the check or its group is off.'),
  since: z.iso
    .datetime()
    .nullable()
    .describe('The slot in which the state began. null if it is not known.'),
  hasFailures: z.boolean().describe('The check is failing now.'),
  hasErrors: z.boolean().describe('The last run could not be judged, because of a system error.'),
  isDegraded: z.boolean().describe('The last run took longer than degradedResponseTime.'),
  longestRun: z.number().nullable().describe('The longest response time ever, in ms.'),
  shortestRun: z.number().nullable().describe('The shortest response time ever, in ms.'),
  lastRunAt: z.iso.datetime().nullable().describe('The slot of the last run.'),
  lastRunLocation: z.string().nullable(),
  lastCheckRunId: z.string().nullable(),
  lastResponseTime: z
    .number()
    .nullable()
    .describe('Of the last run, in ms; null after a system error.'),
  lastError: z
    .strictObject({
      code: z.string().nullable().describe('null if the target answered.'),
      message: z.string().nullable().describe('At most 500 bytes.'),
      location: z.string(),
      at: z.iso.datetime().describe('The slot of the run.'),
    })
    .nullable()
    .describe('Of the last run that failed; null if none did.'),
  sslDaysRemaining: z.number().nullable().describe('As of the last run that saw a certificate.'),
  created_at: z.iso
    .date()
    .optional()
    .describe('The day of its first run, in UTC; omitted if there was none.'),
  updated_at: TIMES.updated_at,
});

const filters = { type: typeFilter, ...checkFilters };
const listQuery = z.strictObject({
  ...filters,
  sort: z
    .enum(STATUS_ORDERS)
    .default('state')
    .describe(
      'state: failing, degraded, unknown, passing, paused, and of one state the latest change first. With - in front: descending. Checks without the value come last. Default: state.',
    ),
  ...pageQuery,
});

const counts = z.strictObject(
  Object.fromEntries(CHECK_STATES.map((state) => [state, z.int()])) as Record<
    (typeof CHECK_STATES)[number],
    z.ZodInt
  >,
);

/** The current status of checks: src/service/README.md, "Check statuses". */
export function checkStatusesRoutes({
  checkStatuses,
}: {
  readonly checkStatuses: CheckStatuses;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/check-statuses',
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'List the current statuses of checks, the most urgent first',
          description: 'Also has checks that never ran.',
          querystring: listQuery,
          response: { 200: z.array(status) },
        },
      },
      async (request) => {
        const { type, sort, limit, page, ...given } = request.query;
        const { accountId } = callerOf(request);
        const query = { ...filterOf(given, type), order: sort, limit, page };
        const found = await checkStatuses.list(accountId, query);
        return found.map(presentStatus);
      },
    );

    app.get(
      '/v1/check-state-counts',
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Count the checks in each state',
          querystring: z.strictObject(filters),
          response: { 200: counts },
        },
      },
      async (request) => {
        const { type, ...given } = request.query;
        return checkStatuses.count(callerOf(request).accountId, filterOf(given, type));
      },
    );

    app.get(
      '/v1/check-statuses/:checkId',
      {
        config: READ,
        schema: {
          tags: TAGS,
          summary: 'Read the current status of a check',
          params: z.object({ checkId }),
          response: { 200: status.nullable().describe('null until a run has ended.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const found = await checkStatuses.get({ accountId, id: request.params.checkId });
        // Without the type, null would be sent as an empty body.
        return reply.type('application/json').send(found === null ? null : presentStatus(found));
      },
    );
  };
}

function presentStatus(row: CheckWithStatus): z.output<typeof status> {
  const {
    hasStatus: _,
    lastErrorCode: code,
    lastErrorMessage: message,
    lastErrorLocation: location,
    lastErrorAt,
    since,
    lastRunAt,
    createdAt,
    updatedAt,
    ...shown
  } = row;
  return {
    ...shown,
    tags: [...shown.tags],
    since: since?.toISOString() ?? null,
    hasFailures: shown.hasFailures ?? false,
    hasErrors: shown.hasErrors ?? false,
    isDegraded: shown.isDegraded ?? false,
    lastRunAt: lastRunAt?.toISOString() ?? null,
    lastError:
      lastErrorAt === null
        ? null
        : { code, message, location: location ?? '', at: lastErrorAt.toISOString() },
    ...(createdAt === null ? {} : { created_at: createdAt.toISOString().slice(0, 10) }),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { STORED_CHECK_TYPES } from '../../../model/enums.ts';
import { CHECK_STATES, UNKNOWN_REASONS } from '../../../model/result/check-state.ts';
import {
  acknowledgement,
  presentAcknowledgement,
} from '../../alerts/acknowledgements/shown-acknowledgement.ts';
import {
  heartbeatOfStatusSchema,
  presentHeartbeatOfStatus,
} from '../../heartbeats/heartbeat-of-status.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import {
  checkFilters,
  checkId,
  filterOf,
  typeFilter,
} from '../../http/resources/check-parameters.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { booleanQuery, pageQuery } from '../../http/resources/parameters.ts';
import { TIMES } from '../../http/resources/resource-schemas.ts';
import { checkTypeOf, runLocation, SHOWN_CHECK } from '../../http/resources/shown-fields.ts';
import type { CheckStatuses, StatusView } from './check-statuses.ts';
import { STATUS_ORDERS } from './sort-names.ts';

const TAGS = ['Check statuses'];

const perCell = z.array(z.int());

const status = z.strictObject({
  ...SHOWN_CHECK,
  checkType: checkTypeOf(STORED_CHECK_TYPES),
  locations: z
    .array(z.string())
    .describe('The private and public locations in which the check runs; empty for a heartbeat.'),
  state: z
    .enum(CHECK_STATES)
    .describe(
      'unknown: nothing is known about the target, see unknownReason. paused: the check or its group is off.',
    ),
  since: z.iso
    .datetime()
    .nullable()
    .describe('The slot in which the state began. null if it is not known.'),
  unknownReason: z
    .enum(UNKNOWN_REASONS)
    .nullable()
    .describe(
      'location_silent: no agent of any private location of the check polls. no_result: no run has judged the target yet. null in another state.',
    ),
  mutedByGroup: z
    .boolean()
    .describe('The group of the check is muted: as with `muted`, nobody is notified.'),
  inMaintenance: z
    .boolean()
    .describe('A maintenance window pauses the check or silences its notifications now.'),
  acknowledgement: acknowledgement
    .nullable()
    .describe('Who has the open alert of the check. null if nobody has it, or none is open.'),
  hasFailures: z.boolean().describe('The check is failing now.'),
  hasErrors: z.boolean().describe('The last run could not be judged, because of a system error.'),
  isDegraded: z.boolean().describe('The last run took longer than degradedResponseTime.'),
  longestRun: z.number().nullable().describe('The longest response time ever, in ms.'),
  shortestRun: z.number().nullable().describe('The shortest response time ever, in ms.'),
  lastRunAt: z.iso.datetime().nullable().describe('The slot of the last run.'),
  lastRunLocation: z
    .string()
    .nullable()
    .describe('The location of the last run; null if there was none, and of a heartbeat.'),
  lastCheckRunId: z
    .string()
    .nullable()
    .describe('The `checkRunId` of the last run as text; null if there was none.'),
  lastResponseTime: z
    .number()
    .nullable()
    .describe('Of the last run, in ms; null after a system error.'),
  usualResponseTime: z
    .number()
    .nullable()
    .describe(
      'In ms: the median of the daily averages of passed runs in the last 7 days (UTC); before the first complete day, of the hourly averages. For ICMP checks, it is that of the average latency. null before the first complete hour.',
    ),
  lastError: z
    .strictObject({
      code: z.string().nullable().describe('null if the target answered.'),
      message: z.string().nullable().describe('At most 500 bytes.'),
      location: runLocation,
      at: z.iso.datetime().describe('The slot of the run.'),
    })
    .nullable()
    .describe('The error of the last run that failed; null if none failed.'),
  sslDaysRemaining: z.number().nullable().describe('As of the last run that saw a certificate.'),
  heartbeat: heartbeatOfStatusSchema.nullable().describe('null for checks of other types.'),
  cells: z
    .strictObject({
      from: z.iso.datetime().describe('When the first cell begins.'),
      minutes: z.literal(15).describe('The length of a cell.'),
      runs: perCell.describe('Without cancelled runs and faults of the system.'),
      failures: perCell.describe('The runs that failed.'),
      degraded: perCell.describe('The runs that passed, but were degraded.'),
      missed: perCell.describe('The slots that were not run.'),
    })
    .optional()
    .describe(
      'Only with cells=true: the last 24 hours in 96 cells, the current one last; one number for each cell.',
    ),
  created_at: z.iso
    .date()
    .optional()
    .describe('The day of its first run, in UTC; omitted if there was none.'),
  updated_at: TIMES.updated_at,
});

const filters = { type: typeFilter, ...checkFilters };
const cellsQuery = {
  cells: booleanQuery(false).describe('Whether to add `cells`. Default: false.'),
};
const listQuery = z.strictObject({
  ...filters,
  ...cellsQuery,
  sort: z
    .enum(STATUS_ORDERS)
    .default('state')
    .describe(
      'state: failing, degraded, unknown, passing, paused, and within a state the latest change first. With - in front: descending. Checks without the value come last. Default: state.',
    ),
  ...pageQuery,
});

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
          operationId: 'listCheckStatuses',
          summary: 'List the current statuses of checks, the most urgent first',
          description: 'Also has checks that never ran.',
          querystring: listQuery,
          response: { 200: z.array(status) },
        },
      },
      async (request, reply) => {
        const {
          type,
          sort,
          limit: _,
          page: __,
          cursor: ___,
          cells: withCells,
          ...given
        } = request.query;
        const { accountId } = callerOf(request);
        const asked = { ...filterOf(given, type), order: sort, withCells };
        const query = { ...asked, ...pageOf(request, reply) };
        const found = await checkStatuses.list(accountId, query);
        return found.map(presentStatus);
      },
    );

    app.get(
      '/v1/check-statuses/:checkId',
      {
        config: READ,
        schema: {
          tags: TAGS,
          operationId: 'getCheckStatus',
          summary: 'Read the current status of a check',
          params: z.object({ checkId }),
          querystring: z.strictObject(cellsQuery),
          response: { 200: status.nullable().describe('null until a run has ended.') },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const key = { accountId, id: request.params.checkId };
        const found = await checkStatuses.get(key, { withCells: request.query.cells });
        // Without the type, null would be sent as an empty body.
        return reply.type('application/json').send(found === null ? null : presentStatus(found));
      },
    );
  };
}

function presentStatus(view: StatusView): z.output<typeof status> {
  const {
    hasStatus: _,
    groupTags: __,
    acknowledgement: taken,
    lastErrorCode: code,
    lastErrorMessage: message,
    lastErrorLocation: location,
    lastErrorAt,
    since,
    lastRunAt,
    heartbeat,
    cells,
    createdAt,
    updatedAt,
    ...shown
  } = view;
  return {
    ...shown,
    tags: [...shown.tags],
    locations: [...shown.locations],
    acknowledgement: taken === null ? null : presentAcknowledgement(taken),
    since: since?.toISOString() ?? null,
    hasFailures: shown.hasFailures ?? false,
    hasErrors: shown.hasErrors ?? false,
    isDegraded: shown.isDegraded ?? false,
    lastRunAt: lastRunAt?.toISOString() ?? null,
    lastError:
      lastErrorAt === null
        ? null
        : { code, message, location: location ?? '', at: lastErrorAt.toISOString() },
    heartbeat: heartbeat === null ? null : presentHeartbeatOfStatus(heartbeat),
    ...(cells === null ? {} : { cells: presentCells(cells) }),
    ...(createdAt === null ? {} : { created_at: createdAt.toISOString().slice(0, 10) }),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}

/** Presents cells as one list per count, which takes a fifth of the bytes of one object per cell. */
function presentCells(cells: NonNullable<StatusView['cells']>) {
  return {
    from: new Date(cells[0]?.startMs ?? 0).toISOString(),
    minutes: 15 as const,
    runs: cells.map(({ runs }) => runs),
    failures: cells.map(({ failures }) => failures),
    degraded: cells.map(({ degraded }) => degraded),
    missed: cells.map(({ missed }) => missed),
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../../http/access/authentication.ts';
import { checkId, READ } from '../../http/resources/check-parameters.ts';
import { TIMES } from '../../http/resources/resource-schemas.ts';
import type { CheckStatuses, StoredStatus } from './check-statuses.ts';

const response = z
  .strictObject({
    name: z.string(),
    checkId: z.string(),
    hasFailures: z.boolean().describe('The check is failing now.'),
    hasErrors: z.boolean().describe('The last run could not be judged, because of a system error.'),
    isDegraded: z.boolean().describe('The last run took longer than degradedResponseTime.'),
    longestRun: z.number().nullable().describe('The longest response time ever, in ms.'),
    shortestRun: z.number().nullable().describe('The shortest response time ever, in ms.'),
    lastRunLocation: z.string().nullable(),
    lastCheckRunId: z.string().nullable(),
    sslDaysRemaining: z.number().nullable().describe('As of the last run that saw a certificate.'),
    created_at: z.iso.date().describe('The day of its first run, in UTC.'),
    updated_at: TIMES.updated_at,
  })
  .nullable()
  .describe('null until a run has ended.');

/** The current status of checks: src/service/README.md, "Check statuses". */
export function checkStatusesRoutes({
  checkStatuses,
}: {
  readonly checkStatuses: CheckStatuses;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/check-statuses/:checkId',
      {
        config: READ,
        schema: {
          tags: ['Check statuses'],
          summary: 'Read the current status of a check',
          params: z.object({ checkId }),
          response: { 200: response },
        },
      },
      async (request, reply) => {
        const { accountId } = callerOf(request);
        const status = await checkStatuses.get({ accountId, id: request.params.checkId });
        // Without the type, null would be sent as an empty body.
        return reply.type('application/json').send(status === null ? null : presentStatus(status));
      },
    );
  };
}

function presentStatus(status: StoredStatus): z.output<typeof response> {
  const { lastSlotMs: _, sslSlotMs: __, createdAt, updatedAt, ...shown } = status;
  return {
    ...shown,
    // A heartbeat has no runs.
    lastRunLocation: shown.lastRunLocation === '' ? null : shown.lastRunLocation,
    lastCheckRunId: shown.lastCheckRunId === '' ? null : shown.lastCheckRunId,
    created_at: createdAt.toISOString().slice(0, 10),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ALERT_TYPES } from '../../model/alerting/alert.ts';
import { CHECK_TYPES } from '../../model/enums.ts';
import { callerOf } from '../http/access/authentication.ts';
import { READ } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { parseWindow, windowQuery } from '../http/resources/window-parameters.ts';
import type { CheckAlert, CheckAlerts } from './check-alerts.ts';

const response = z.array(
  z.strictObject({
    name: z.string().describe('The name of the check when the alert was given.'),
    id: z.uuid(),
    checkId: z.string(),
    alertType: z.enum(ALERT_TYPES),
    checkType: z.enum(CHECK_TYPES),
    runLocation: z.string(),
    responseTime: z.number().describe('Milliseconds.'),
    error: z.string().nullable().describe('What led to the alert; null where nothing failed.'),
    statusCode: z
      .string()
      .nullable()
      .describe('The HTTP status of URL and API checks; null without a response.'),
    created_at: z.iso.date().describe('The day on which the alert was given, in UTC.'),
    startedAt: z.iso.datetime().describe('When the run that led to the alert began.'),
    alertedAt: z.iso.datetime().describe('When the alert was given: `from` and `to` go by it.'),
  }),
);

/** The alerts that checks gave: src/service/README.md, "Alerts". */
export function checkAlertsRoutes({
  checkAlerts,
}: {
  readonly checkAlerts: CheckAlerts;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/check-alerts',
      {
        config: READ,
        schema: {
          tags: ['Check alerts'],
          operationId: 'listCheckAlerts',
          summary: 'List the alerts of all checks, newest first',
          description:
            'Includes alerts that no channel receives. The window filters by the time of the alert.',
          querystring: z.strictObject(windowQuery),
          response: { 200: response },
        },
      },
      async (request, reply) => {
        const page = pageOf(request, reply);
        const { accountId } = callerOf(request);
        const window = parseWindow(request.query, page.begunMs);
        const found = await checkAlerts.list(accountId, { ...page, ...window });
        return found.map(presentAlert);
      },
    );
  };
}

function presentAlert({
  startedAt,
  createdAt,
  ...alert
}: CheckAlert): z.output<typeof response>[number] {
  return {
    ...alert,
    created_at: createdAt.toISOString().slice(0, 10),
    startedAt: startedAt.toISOString(),
    alertedAt: createdAt.toISOString(),
  };
}

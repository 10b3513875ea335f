import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ALERT_TYPES } from '../../model/alerting/alert.ts';
import { CHECK_TYPES } from '../../model/enums.ts';
import { callerOf, keyOf } from '../http/access/authentication.ts';
import { READ } from '../http/access/route-roles.ts';
import { checkId } from '../http/resources/check-parameters.ts';
import { pageOf } from '../http/resources/cursor-paging.ts';
import { booleanQuery, repeatable, uuidParam } from '../http/resources/parameters.ts';
import { checkTypeOf, runLocation, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { ANY_TIME, parseWindow, windowQuery } from '../http/resources/window-parameters.ts';
import {
  acknowledgement,
  presentAcknowledgement,
} from './acknowledgements/shown-acknowledgement.ts';
import type { CheckAlerts, ListedAlert } from './check-alerts.ts';

export const checkAlertSchema = z
  .strictObject({
    name: z.string().describe('The name of the check at the time of the alert.'),
    id: z.uuid().describe('The id of the alert.'),
    checkId: SHOWN_CHECK.checkId,
    alertType: z.enum(ALERT_TYPES).describe('What the alert reports.'),
    checkType: checkTypeOf(CHECK_TYPES),
    isOpen: z
      .boolean()
      .describe(
        'Whether it is the latest alert of a check that has not recovered since, or flaps.',
      ),
    runLocation,
    resultId: z
      .string()
      .nullable()
      .describe(
        'The check result that led to the alert; null for a heartbeat, and for alerts of earlier releases.',
      ),
    responseTime: z.number().describe('Milliseconds.'),
    error: z.string().nullable().describe('What led to the alert; null if nothing failed.'),
    statusCode: z
      .string()
      .nullable()
      .describe('The HTTP status of URL and API checks; null without a response.'),
    flapping: z
      .enum(['STARTED', 'ENDED'])
      .nullable()
      .describe(
        'STARTED: the check flaps, and causes no further alerts until it is calm. ENDED: it is calm. null for any other alert.',
      ),
    acknowledgement: acknowledgement
      .nullable()
      .describe('Who acknowledged it, which ends reminders and escalation; null for nobody.'),
    deliveries: z
      .strictObject({
        sent: z.int().describe('Accepted by the receiver.'),
        pending: z.int().describe('Waiting for an attempt or a retry.'),
        failed: z.int().describe('Failed after all retries.'),
      })
      .describe('The number of deliveries of the alert and its reminders, by state.'),
    created_at: z.iso.date().describe('The day of the alert, in UTC.'),
    startedAt: z.iso.datetime().describe('When the run that led to the alert began.'),
    alertedAt: z.iso
      .datetime()
      .describe('The time of the alert, with which `from` and `to` are compared.'),
  })
  .meta({ title: 'CheckAlert' });

const query = z.strictObject({
  checkId: checkId.optional().describe('Only alerts of this check.'),
  alertType: repeatable(z.enum(ALERT_TYPES), ALERT_TYPES.length).describe(
    'Only alerts of this type; given several times, of any of them.',
  ),
  open: booleanQuery(false)
    .unwrap()
    .optional()
    .describe(
      'true: only open alerts, by default of any time; false: only others. An alert is open while it is the latest of a check that has not recovered.',
    ),
  ...windowQuery,
});
const params = z.object({ id: uuidParam });

/** The alerts of checks: src/service/README.md, "Alerts". */
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
          querystring: query,
          response: { 200: z.array(checkAlertSchema) },
        },
      },
      async (request, reply) => {
        const page = pageOf(request, reply);
        const { accountId } = callerOf(request);
        const { checkId = null, alertType: alertTypes, open: isOpen = null } = request.query;
        const window = parseWindow(
          isOpen === true ? { ...ANY_TIME, ...request.query } : request.query,
          page.begunMs,
        );
        const asked = { ...page, ...window, checkId, alertTypes, isOpen };
        return (await checkAlerts.list(accountId, asked)).map(presentAlert);
      },
    );

    app.get(
      '/v1/check-alerts/:id',
      {
        config: READ,
        schema: {
          tags: ['Check alerts'],
          operationId: 'getCheckAlert',
          summary: 'Read an alert of a check',
          params,
          response: { 200: checkAlertSchema },
        },
      },
      async (request) => presentAlert(await checkAlerts.read(keyOf(request))),
    );
  };
}

const FLAPPING = { started: 'STARTED', ended: 'ENDED' } as const;

export function presentAlert({
  startedAt,
  createdAt,
  flapping,
  acknowledgement: taken,
  ...alert
}: ListedAlert): z.output<typeof checkAlertSchema> {
  return {
    ...alert,
    flapping: flapping === null ? null : FLAPPING[flapping],
    acknowledgement: taken === null ? null : presentAcknowledgement(taken),
    created_at: createdAt.toISOString().slice(0, 10),
    startedAt: startedAt.toISOString(),
    alertedAt: createdAt.toISOString(),
  };
}

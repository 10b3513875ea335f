import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { NOTICE_TYPES, reportsEnd } from '../../../model/alerting/alert.ts';
import { PROBLEM_RULES } from '../../../model/alerting/monitoring-problems.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { pageOf } from '../../http/resources/cursor-paging.ts';
import { numberParam, pageQuery, repeatable, uuidParam } from '../../http/resources/parameters.ts';
import { createdAt } from '../../http/resources/shown-fields.ts';
import { subjectName } from '../monitoring-problems/subject.ts';
import { type NotifiedBy, noticeTypeOf } from '../notice.ts';
import { channelSummary } from '../recipients/routes.ts';
import type { AlertDeliveries, StoredDelivery } from './delivery-log.ts';

const STATES = ['waiting', 'sending', 'sent', 'failed'] as const;

const params = z.object({ id: numberParam.describe('The id of the channel.') });
const query = z.strictObject({
  state: repeatable(z.enum(STATES), STATES.length).describe(
    'Only deliveries in this state; given several times, in any of them.',
  ),
  ...pageQuery,
});

const response = z
  .strictObject({
    id: z
      .string()
      .describe('The same each time it is sent: in x-service-delivery, or the Message-ID.'),
    channel: channelSummary.describe('To which channel it is sent.'),
    checkId: z
      .string()
      .nullable()
      .describe('null for a silent location and a problem of monitoring itself.'),
    checkName: z
      .string()
      .nullable()
      .describe('The name of the check at the time of the alert; null where `checkId` is.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why the channel is notified, in one sentence; null for notifications of earlier releases.',
      ),
    location: z
      .string()
      .nullable()
      .describe(
        'The slug of the silent location, or of the location of a problem of monitoring itself; else null.',
      ),
    problem: z
      .string()
      .nullable()
      .describe(
        'The problem of monitoring itself, or the one that ended, in one line; null for all others.',
      ),
    alertId: z.string().describe('For checks, the id of the alert in /v1/check-alerts.'),
    alertType: z.enum(NOTICE_TYPES).describe('What the notification reports.'),
    escalatedAfterMinutes: z
      .int()
      .nullable()
      .describe(
        'For a channel of the escalation step: after how many minutes without acknowledgement it was notified; null for other deliveries.',
      ),
    messageCount: z
      .int()
      .describe('How many notifications the message contains: 1 if it has only this one.'),
    waitsFor: z
      .enum(['GROUP', 'DIGEST'])
      .nullable()
      .describe(
        '`GROUP`: it waits for others of the same message (`groupBy`); `DIGEST`: it waits for the digest of degraded checks; null for all others.',
      ),
    reminder: z.number().describe('0 for the notification itself, then 1, 2, … for its reminders.'),
    state: z
      .enum(STATES)
      .describe(
        '`waiting`: to be sent, for the first time or again; `sending`; `sent`: the receiver accepted it; `failed`: there are no more retries.',
      ),
    attempts: z.number().describe('Attempts made so far.'),
    lastStatus: z.number().nullable().describe('The HTTP or SMTP status; null without a response.'),
    lastError: z.string().nullable().describe('The problem of the last attempt; null for none.'),
    lastAnswer: z
      .string()
      .nullable()
      .describe(
        "The first 200 characters of the receiver's response. Only for admin keys: null for all others.",
      ),
    created_at: createdAt,
    lastAttemptAt: z.iso
      .datetime()
      .nullable()
      .describe('When it was last sent; null before the first attempt.'),
    nextAttemptAt: z.iso
      .datetime()
      .nullable()
      .describe(
        'When a waiting delivery may be sent. Earlier deliveries of the check are sent first.',
      ),
    finishedAt: z.iso
      .datetime()
      .nullable()
      .describe('When it was sent, or failed without another retry.'),
  })
  .meta({ title: 'AlertDelivery' });

/** The log of deliveries, sent and pending. */
export function alertDeliveriesRoutes({
  alertDeliveries,
}: {
  readonly alertDeliveries: Pick<AlertDeliveries, 'list' | 'listOfAlert' | 'resend'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/alert-channels/:id/deliveries',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Alert channels'],
          operationId: 'listAlertDeliveries',
          summary: 'List the sent and pending deliveries of an alert channel, newest first',
          params,
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const { state: states } = request.query;
        const asked = { states, ...pageOf(request, reply) };
        const found = await alertDeliveries.list(callerOf(request), request.params.id, asked);
        return found.map(presentDelivery);
      },
    );

    app.post(
      '/v1/alert-channels/:id/deliveries/:deliveryId/resend',
      {
        config: { role: 'write', audit: { none: 'it sends what was sent before' } },
        schema: {
          tags: ['Alert channels'],
          operationId: 'resendAlertDelivery',
          summary: 'Send a delivery again that was sent or has failed',
          description:
            'It gets all of its attempts again and keeps its id. The other notifications of its message are sent with it. Later deliveries of the check to the channel wait for it.',
          params: params.extend({ deliveryId: uuidParam.describe('The id of the delivery.') }),
          response: { 200: response.describe('The delivery, which waits to be sent.') },
        },
      },
      async (request) => {
        const { id: channelId, deliveryId: id } = request.params;
        return presentDelivery(await alertDeliveries.resend(callerOf(request), { channelId, id }));
      },
    );

    app.get(
      '/v1/check-alerts/:id/deliveries',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Check alerts'],
          operationId: 'listDeliveriesOfCheckAlert',
          summary: 'List the deliveries of an alert and of its reminders, newest first',
          description: 'Empty if no channel receives it.',
          params: z.object({ id: uuidParam.describe('The id of the alert.') }),
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(response) },
        },
      },
      async (request, reply) => {
        const page = pageOf(request, reply);
        const found = await alertDeliveries.listOfAlert(callerOf(request), request.params.id, page);
        return found.map(presentDelivery);
      },
    );
  };
}

function presentDelivery({
  createdAt,
  lastAttemptAt,
  nextAttemptAt,
  finishedAt,
  checkId,
  location,
  problem,
  alertType,
  isUndone,
  checkName,
  notifiedBy,
  carriedWith,
  ...fields
}: StoredDelivery): z.output<typeof response> {
  const isOfLocation = location !== null && problem === null;
  const isOfCheck = !isOfLocation && problem === null;
  const facts = { isOfLocation, isOfCheck, isOfAcknowledgement: isUndone !== null, alertType };
  return {
    ...fields,
    checkId: isOfCheck ? checkId : null,
    checkName: isOfCheck ? checkName : null,
    reason: reasonOf({ ...facts, notifiedBy, minutes: fields.escalatedAfterMinutes }),
    messageCount: carriedWith + 1,
    location,
    problem:
      problem === null ? null : PROBLEM_RULES[problem.kind].headline(subjectName(problem.subject)),
    alertType: noticeTypeOf({ alertType, isOfLocation, isUndone, problem: problem?.kind }),
    created_at: createdAt.toISOString(),
    lastAttemptAt: lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

const REASONS: Readonly<Record<NotifiedBy, string>> = {
  CHECK: 'It was subscribed to the check',
  ALL_CHECKS: 'It was subscribed to all checks',
  ESCALATION: 'The problem was escalated to it',
};

function reasonOf({
  isOfLocation,
  isOfCheck,
  isOfAcknowledgement,
  alertType,
  notifiedBy,
  minutes,
}: {
  readonly isOfLocation: boolean;
  readonly isOfCheck: boolean;
  readonly isOfAcknowledgement: boolean;
  readonly alertType: StoredDelivery['alertType'];
  readonly notifiedBy: NotifiedBy | null;
  /** Without acknowledgement. */
  readonly minutes: number | null;
}): string | null {
  if (isOfAcknowledgement) return 'It was notified of the alert.';
  if (minutes !== null) return `Nobody acknowledged the alert for ${countText(minutes, 'minute')}.`;
  const end = reportsEnd(alertType) ? ' and was notified of the problem' : '';
  if (isOfLocation) return `It receives notifications of silent locations${end}.`;
  if (!isOfCheck) return `It receives notifications of problems of monitoring itself${end}.`;
  if (notifiedBy === null) return null;
  return `${REASONS[notifiedBy]}${notifiedBy === 'ESCALATION' ? '' : end}.`;
}

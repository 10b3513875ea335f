import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ALERT_TYPES } from '../../../model/alerting/alert.ts';
import { callerOf } from '../../http/access/authentication.ts';
import { numberParam, pageQuery, repeatable } from '../../http/resources/parameters.ts';
import type { AlertDeliveries, StoredDelivery } from './delivery-log.ts';

const STATES = ['waiting', 'sending', 'sent', 'failed'] as const;

const params = z.object({ id: numberParam.describe('The id of the channel.') });
const query = z.strictObject({
  state: repeatable(z.enum(STATES), STATES.length).describe(
    'Only deliveries in this state; given several times, in any of them.',
  ),
  ...pageQuery,
});

const response = z.strictObject({
  id: z
    .string()
    .describe('The same each time it is sent: in x-service-delivery, or the Message-ID.'),
  checkId: z.string(),
  alertId: z.string().describe('As /v1/check-alerts has it.'),
  alertType: z.enum(ALERT_TYPES),
  reminder: z
    .number()
    .describe('0 for the notice itself, then 1, 2, … for those that remind of it.'),
  state: z
    .enum(STATES)
    .describe(
      '`waiting` to be sent, for the first time or again; `sending`; `sent`: the other side took it; `failed`: it is not sent any more.',
    ),
  attempts: z.number().describe('How often sending it was begun.'),
  lastStatus: z.number().nullable().describe('Of HTTP or SMTP; null where no answer came.'),
  lastError: z
    .string()
    .nullable()
    .describe('What was amiss the last time; null where nothing was.'),
  lastAnswer: z
    .string()
    .nullable()
    .describe(
      'What the other side said, its first 200 characters. Only for admin keys: null for all others.',
    ),
  created_at: z.iso.datetime(),
  lastAttemptAt: z.iso.datetime().nullable(),
  nextAttemptAt: z.iso
    .datetime()
    .nullable()
    .describe('While it waits: when it may be sent. What came before it of the check goes first.'),
  finishedAt: z.iso.datetime().nullable().describe('When it was sent, or failed for good.'),
});

/** The log of what was sent to a channel, and is to be. */
export function alertDeliveriesRoutes({
  alertDeliveries,
}: {
  readonly alertDeliveries: Pick<AlertDeliveries, 'list'>;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/alert-channels/:id/deliveries',
      {
        config: { role: 'read' },
        schema: {
          tags: ['Alert channels'],
          summary: 'List the sent and pending deliveries of an alert channel, newest first',
          params,
          querystring: query,
          response: { 200: z.array(response) },
        },
      },
      async (request) => {
        const { state: states, ...page } = request.query;
        const asked = { states, ...page };
        const found = await alertDeliveries.list(callerOf(request), request.params.id, asked);
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
  ...fields
}: StoredDelivery): z.output<typeof response> {
  return {
    ...fields,
    created_at: createdAt.toISOString(),
    lastAttemptAt: lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  ALERT_CHANNEL_SHAPES,
  ALERT_CHANNEL_TYPES,
  alertChannelSchema,
} from '../../../model/alerting/alert-channel.ts';
import type { ServiceChannelType } from '../../../model/alerting/service-channels.ts';
import { publicConfigSchema } from '../../../model/alerting/service-targets.ts';
import { maskTarget } from '../../checks/masked-channels.ts';
import { keyOf } from '../../http/access/authentication.ts';
import type { Viewer } from '../../http/access/viewer.ts';
import { whileClientWaits } from '../../http/request-signal.ts';
import { crudRoutes } from '../../http/resources/crud.ts';
import { numberParam, pageQuery } from '../../http/resources/parameters.ts';
import { ignored, optionalFieldsOf, TIMES } from '../../http/resources/resource-schemas.ts';
import { numberIdOf } from '../../http/resources/shown-fields.ts';
import { type AlertChannels, type ChannelView, MAX_SERVED_CHECKS } from './alert-channels.ts';

const TAG = 'Alert channels';
const WRITE = { role: 'write' } as const;
const PATH = '/v1/alert-channels';

const channelId = numberParam.describe('The id of the channel.');

const { type: _type, config: _config, ...commonFields } = ALERT_CHANNEL_SHAPES.EMAIL.shape;
const changes = z.strictObject({
  ...optionalFieldsOf(commonFields),
  ...ignored(['created_at', 'updated_at', 'servedChecks']),
  type: z.enum(ALERT_CHANNEL_TYPES).optional().describe('The same as before.'),
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'The complete configuration of a channel of this type. Empty locked values of a webhook and omitted secrets do not change.',
    ),
  id: z.number().optional().describe('The same as in the path.'),
});

const servedChecks = z
  .strictObject({
    total: z.int().describe('How many there are.'),
    checks: z
      .array(
        z.strictObject({
          id: z.string().describe('The id of the check.'),
          name: z.string().describe('The name of the check.'),
        }),
      )
      .describe(`At most ${MAX_SERVED_CHECKS} of them, by name.`),
  })
  .meta({ title: 'ServedChecks' })
  .optional()
  .describe('The checks that the channel is notified of; omitted in lists. Ignored in requests.');
const added = { id: numberIdOf('the channel'), ...TIMES, servedChecks };

function serviceResponse<Type extends ServiceChannelType>(type: Type) {
  const config = publicConfigSchema(type);
  return z.strictObject({
    type: ALERT_CHANNEL_SHAPES[type].shape.type,
    config,
    ...commonFields,
    ...added,
  });
}

const { config: webhook } = ALERT_CHANNEL_SHAPES.WEBHOOK.shape;

const response = z.discriminatedUnion('type', [
  ALERT_CHANNEL_SHAPES.EMAIL.extend(added),
  ALERT_CHANNEL_SHAPES.WEBHOOK.extend({
    ...added,
    config: webhook
      .omit({ webhookSecret: true })
      .extend({ hasWebhookSecret: z.boolean().describe('Whether notifications are signed.') })
      .describe(webhook.description ?? ''),
  }),
  ALERT_CHANNEL_SHAPES.SLACK.extend(added),
  ALERT_CHANNEL_SHAPES.SMS.extend(added),
  serviceResponse('TEAMS'),
  serviceResponse('DISCORD'),
  serviceResponse('TELEGRAM'),
  serviceResponse('PAGERDUTY'),
  serviceResponse('OPSGENIE'),
  serviceResponse('NTFY'),
  serviceResponse('PUSHOVER'),
  serviceResponse('GOOGLE_CHAT'),
  serviceResponse('MATTERMOST'),
  serviceResponse('MATRIX'),
  serviceResponse('GOTIFY'),
  serviceResponse('INCIDENT_IO'),
  serviceResponse('ALERTMANAGER'),
]);

const comparedConfig = z
  .strictObject({
    config: z
      .record(z.string(), z.unknown())
      .describe('The complete configuration of a channel of this type, including its secrets.'),
  })
  .meta({ title: 'AlertChannelComparison' });
const compareResponse = z.strictObject({
  same: z.boolean().describe('Whether the channel has exactly this configuration.'),
});

const testResponse = z.strictObject({
  delivered: z.boolean().describe('Whether the receiver accepted it.'),
  status: z.number().nullable().describe('The HTTP or SMTP status; null without a response.'),
  error: z
    .string()
    .nullable()
    .describe(
      'Why it was not delivered, or a problem that did not prevent the delivery; null for none.',
    ),
});

/**
 * The recipients of alerts: src/service/README.md, "Alerts" and "Notifications: email, webhook, Slack,
 * SMS".
 */
export function alertChannelsRoutes({
  alertChannels,
  stopping,
}: {
  readonly alertChannels: AlertChannels;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    await app.register(
      crudRoutes({
        path: PATH,
        resource: 'AlertChannel',
        tag: TAG,
        changing: WRITE,
        id: { name: 'id', schema: channelId },
        query: z.strictObject(pageQuery),
        body: alertChannelSchema,
        changes,
        response,
        texts: {
          create: { summary: 'Create an alert channel' },
          list: { summary: 'List alert channels, oldest first' },
          read: {
            summary: 'Read an alert channel',
            description:
              'Secrets and locked values are omitted. Keys without write permission do not see the paths, query parameters and credentials of URLs.',
          },
          update: {
            summary: 'Update an alert channel',
            description:
              'Omitted fields do not change; each given field replaces the stored one as a whole.',
          },
          remove: {
            summary: 'Delete an alert channel, with its subscriptions and its log',
            description: 'Its pending deliveries are not sent.',
          },
        },
        feature: alertChannels,
        present: presentChannel,
      }),
    );

    app.post(
      `${PATH}/:id/compare`,
      {
        config: { ...WRITE, audit: { none: 'a comparison changes nothing' } },
        schema: {
          tags: [TAG],
          operationId: 'compareAlertChannel',
          summary: 'Compare a configuration with that of an alert channel, secrets included',
          description:
            'Responses never contain the secrets of a channel. A client that has them learns here whether an update is needed. An account has 60 comparisons a minute, because each one reveals whether a guess is right.',
          params: z.object({ id: channelId }),
          body: comparedConfig,
          response: { 200: compareResponse.describe('Whether both are the same.') },
        },
      },
      async (request) => ({
        same: await alertChannels.hasConfig(keyOf(request), request.body.config),
      }),
    );

    app.post(
      `${PATH}/:id/test`,
      {
        config: { ...WRITE, audit: { none: 'a sample notification changes nothing' } },
        schema: {
          tags: [TAG],
          operationId: 'testAlertChannel',
          summary: 'Send a test notification once and return the outcome',
          params: z.object({ id: channelId }),
          response: { 200: testResponse.describe('Whether the receiver accepted it.') },
        },
      },
      async (request, reply) => {
        const outcome = await whileClientWaits(reply, stopping, (signal) =>
          alertChannels.test(keyOf(request), signal),
        );
        const error = outcome.ok ? outcome.remark : outcome.error;
        return { delivered: outcome.ok, status: outcome.status, error };
      },
    );
  };
}

function presentChannel(
  { id, fields, subscriptions, servedChecks, createdAt, updatedAt }: ChannelView,
  viewer: Viewer,
): z.output<typeof response> {
  const shown = viewer.mayWrite ? fields : maskTarget(fields);
  return {
    ...shown,
    subscriptions,
    id,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt?.toISOString() ?? null,
    ...(servedChecks === undefined ? {} : { servedChecks }),
  } as z.output<typeof response>;
}

import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  ALERT_CHANNEL_SHAPES,
  ALERT_CHANNEL_TYPES,
} from '../../../model/alerting/alert-channel.ts';
import { callerOf } from '../../http/access/authentication.ts';
import type { MessagePreviews } from './message-preview.ts';

const { titleTemplate, textTemplate } = ALERT_CHANNEL_SHAPES.EMAIL.shape;
const { template } = ALERT_CHANNEL_SHAPES.WEBHOOK.shape.config.shape;

/** Per key. A preview may compile three large templates, which blocks the event loop. */
const PREVIEWS_PER_MINUTE = 60;

const body = z
  .strictObject({
    type: z.enum(ALERT_CHANNEL_TYPES).describe('The type of the channel.'),
    titleTemplate,
    textTemplate,
    template: template.describe('`config.template` of a webhook; ignored for other types.'),
    contentType: z
      .string()
      .min(1)
      .max(255)
      .default('application/json')
      .describe('The content type that the headers of a webhook set.'),
  })
  .meta({ title: 'AlertMessageTemplates' });

const response = z
  .strictObject({
    previews: z
      .array(
        z
          .strictObject({
            notice: z.enum(['FAILURE', 'RECOVERY']).describe('What the message reports.'),
            title: z
              .string()
              .describe('The first line, with the reason, as a lock screen shows it.'),
            text: z.string().describe('The text below the title, as plain text.'),
            contentType: z.string().describe('The content type of `body`.'),
            body: z
              .string()
              .describe(
                'The body in the format of the channel, with escaped texts and sample credentials; for an email the HTML.',
              ),
          })
          .meta({ title: 'AlertMessagePreview' }),
      )
      .describe('A failure and its recovery, of a sample check.'),
  })
  .describe('The messages that the channel would get.');

/** Previews of messages: src/service/README.md, "Notifications: email, webhook, Slack, SMS". */
export function messagePreviewRoutes({
  messagePreviews,
}: {
  readonly messagePreviews: MessagePreviews;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.post(
      '/v1/alert-channels/preview',
      {
        config: {
          role: 'write',
          rateLimit: { max: PREVIEWS_PER_MINUTE },
          audit: { none: 'a preview changes nothing' },
        },
        schema: {
          tags: ['Alert channels'],
          operationId: 'previewAlertChannel',
          summary: 'Preview the messages of templates, without sending them',
          body,
          response: { 200: response },
        },
      },
      async (request) => {
        const { accountId } = callerOf(request);
        return { previews: [...(await messagePreviews.of(accountId, request.body))] };
      },
    );
  };
}

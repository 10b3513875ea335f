import type { FastifyPluginAsync } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ALERT_CHANNEL_TYPES } from '../../../model/alerting/alert-channel.ts';
import { alertSettingsSchema } from '../../../model/alerting/alert-settings.ts';
import { keyOf } from '../../http/access/authentication.ts';
import { READ } from '../../http/access/route-roles.ts';
import { checkId } from '../../http/resources/check-parameters.ts';
import { numberIdOf } from '../../http/resources/shown-fields.ts';
import type { CurrentProblem } from './current-problem.ts';
import { type AlertRecipients, NOTIFICATIONS, SILENCE_REASONS } from './recipients.ts';

export const channelSummary = z
  .strictObject({
    id: numberIdOf('the channel'),
    type: z.enum(ALERT_CHANNEL_TYPES).describe('The type of the channel.'),
    name: z
      .string()
      .describe('The address, the name of the webhook or recipient, or the host of Slack.'),
  })
  .meta({ title: 'AlertChannelSummary' });

const response = z
  .strictObject({
    problem: z
      .strictObject({
        condition: z.enum(['degraded', 'failing']).describe('The state of the check.'),
        since: z.iso.datetime().describe('The slot in which it began.'),
        isAlerted: z.boolean().describe('Whether it caused an alert.'),
        reason: z.string().describe('Why it caused an alert, or none, in one sentence.'),
      })
      .nullable()
      .describe('What is wrong with the check now; null if it passes, or never ran.'),
    dependents: z
      .strictObject({
        total: z.int().describe('How many there are.'),
        failing: z.int().describe('How many of them fail.'),
        names: z.array(z.string()).describe('The first 20 of those that fail.'),
      })
      .describe('The checks that depend on this one: while it fails, their alerts wait.'),
    settings: alertSettingsSchema.describe('The alert settings in force, with all defaults.'),
    settingsOf: z
      .enum(['CHECK', 'GROUP', 'ACCOUNT'])
      .describe('Whose settings they are: see "Settings" in Alerts.'),
    silences: z
      .array(
        z.strictObject({
          code: z.enum(SILENCE_REASONS).describe('The reason, for programs.'),
          message: z.string().describe('The reason in one sentence.'),
        }),
      )
      .describe('Why nobody is notified of a failure now; empty if somebody is.'),
    recipients: z
      .array(
        z.strictObject({
          channel: channelSummary.describe('The channel.'),
          activated: z.boolean().describe('Whether the subscription is activated.'),
          notifications: z
            .array(z.enum(NOTIFICATIONS))
            .describe('What the channel is notified of.'),
          reason: z.string().describe('Why, in one sentence.'),
          problem: z
            .string()
            .nullable()
            .describe('Why deliveries to it will fail; null if no reason is known.'),
        }),
      )
      .describe('The channels that are subscribed to the check, in the order of their ids.'),
    omitted: z.int().describe('How many more there are.'),
    escalation: z
      .strictObject({
        minutes: z.int().describe('Minutes without acknowledgement.'),
        channels: z
          .array(channelSummary)
          .describe('The channels of the step that exist, in the order of their ids.'),
      })
      .nullable()
      .describe(
        'Who else is notified if nobody acknowledges an alert, by `escalationStep` of the account; null for nobody.',
      ),
  })
  .meta({ title: 'AlertRecipients' });

/** Who would be notified of a check, and why: src/service/README.md, "Alerts". */
export function alertRecipientsRoutes({
  alertRecipients,
}: {
  readonly alertRecipients: AlertRecipients;
}): FastifyPluginAsync {
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/checks/:id/alert-recipients',
      {
        config: READ,
        schema: {
          tags: ['Check alerts'],
          operationId: 'getAlertRecipients',
          summary: 'Read who would be notified of a check, and why',
          params: z.object({ id: checkId }),
          response: { 200: response },
        },
      },
      async (request) => {
        const { problem, dependents, silences, recipients, escalation, ...found } =
          await alertRecipients.ofCheck(keyOf(request));
        return {
          ...found,
          problem: problem === null ? null : shownProblem(problem),
          dependents: { ...dependents, names: [...dependents.names] },
          escalation:
            escalation === null ? null : { ...escalation, channels: [...escalation.channels] },
          silences: [...silences],
          recipients: recipients.map((each) => ({
            ...each,
            notifications: [...each.notifications],
          })),
        };
      },
    );
  };
}

function shownProblem({ sinceMs, ...problem }: CurrentProblem) {
  return { ...problem, since: new Date(sinceMs).toISOString() };
}

import { z } from 'zod';
import { ALERT_CHANNEL_SHAPES } from '../../model/alerting/alert-channel.ts';
import { commonFields } from '../../model/check/check.ts';
import { retryStrategySchema } from '../../model/check/retry.ts';
import { ownVariableSchema } from '../../model/check/variable.ts';
import { asShown, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { warningsSchema } from '../http/resources/warnings.ts';

const { config: email } = ALERT_CHANNEL_SHAPES.EMAIL.shape;
const { config: webhook } = ALERT_CHANNEL_SHAPES.WEBHOOK.shape;
const { config: slack } = ALERT_CHANNEL_SHAPES.SLACK.shape;
const { config: sms } = ALERT_CHANNEL_SHAPES.SMS.shape;
const { key, locked, value: pairValue } = webhook.shape.queryParameters.unwrap().element.shape;
const pair = z.object({
  key: asShown(key),
  value: asShown(pairValue),
  locked: z.boolean().describe(locked.description ?? ''),
});

/** src/model/README.md, "Fields of every check". */
const alertChannels = z
  .object({
    email: z
      .array(z.object({ address: asShown(email.shape.address) }))
      .describe('The email channels.'),
    webhook: z
      .array(
        z.object({
          url: asShown(webhook.shape.url),
          name: asShown(webhook.shape.name),
          method: asShown(webhook.shape.method),
          headers: z.array(pair).describe(webhook.shape.headers.description ?? ''),
          queryParameters: z.array(pair).describe(webhook.shape.queryParameters.description ?? ''),
        }),
      )
      .describe('The webhook channels.'),
    slack: z.array(z.object({ url: asShown(slack.shape.url) })).describe('The Slack channels.'),
    sms: z
      .array(z.object({ number: asShown(sms.shape.number), name: asShown(sms.shape.name) }))
      .describe('The SMS channels.'),
    omitted: z
      .int()
      .optional()
      .describe(
        'How many more channels receive its alerts, whose data would exceed 64 KiB in total. They are in alertChannelSubscriptions.',
      ),
  })
  .meta({ title: 'CheckAlertChannels' });

const { value, ...ownVariable } = ownVariableSchema.shape;
const variables = z.array(
  z
    .strictObject({ ...ownVariable, value: value.nullable().describe('null if it is secret.') })
    .meta({ title: 'CheckVariable' }),
);
const offsetSchema = commonFields.frequencyOffset.unwrap().unwrap();

/**
 * The fields that a response adds to or replaces in a body: src/model/README.md, "Fields of every
 * check". If a field is null in the body and not nullable in responses, the response omits it.
 */
export const RESPONSE_FIELDS = {
  alertSettings: commonFields.alertSettings.unwrap().describe('When a failure sends alerts.'),
  retryStrategy: retryStrategySchema
    .optional()
    .describe('How a failed run is retried; omitted if `doubleCheck` decides.'),
  triggerIncident: commonFields.triggerIncident
    .unwrap()
    .unwrap()
    .optional()
    .describe('The incident that a failure opens; omitted if there is none.'),
  frequencyOffset: offsetSchema
    .optional()
    .describe('The offset of the slots; omitted if it is derived from the id.'),
  variables: variables.describe(
    "Values for the check's templates; they take precedence over all other variables.",
  ),
  id: SHOWN_CHECK.checkId,
  created_at: z.iso.date().describe('The day of its creation, in UTC.'),
  updated_at: z.iso.datetime().nullable().describe('null until the first update.'),
  alertChannels: alertChannels.describe('The channels that receive the alerts of the check.'),
  warnings: warningsSchema,
};

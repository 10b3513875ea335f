import { z } from 'zod';
import { logicalIdField } from '../logical-id.ts';
import { bundling, noBundling } from './channel-bundling.ts';
import {
  type EmailConfig,
  emailConfig,
  type PublicWebhookConfig,
  type SlackConfig,
  type SmsConfig,
  slackConfig,
  smsConfig,
  templateField,
  type WebhookConfig,
  webhookConfig,
} from './channel-configs.ts';
import { receiverText } from './channel-fields.ts';
import { preferences } from './notice-preferences.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from './service-channels.ts';
import type { PublicServiceTarget, ServiceTarget } from './service-targets.ts';

/**
 * Recipients of notices: src/service/README.md, "Notifications: email, webhook, Slack, SMS",
 * src/service/README.md, "Alerts".
 */
export const ALERT_CHANNEL_TYPES = [
  'EMAIL',
  'WEBHOOK',
  'SLACK',
  'SMS',
  ...SERVICE_CHANNEL_TYPES,
] as const;
export type AlertChannelType = (typeof ALERT_CHANNEL_TYPES)[number];

const MAX_SUBSCRIPTIONS = 10_000;

const subscription = z.strictObject({
  checkId: z.string().min(1).max(100).describe('The id of the check.'),
  activated: z.boolean().default(true).describe('Whether the channel is notified of the check.'),
});

const common = {
  ...preferences,
  ...bundling,
  subscribeAll: z
    .boolean()
    .default(false)
    .describe(
      'Whether the channel is notified of all checks of the account, also future ones, except those whose subscription to it is not activated.',
    ),
  subscriptions: z
    .array(subscription)
    .max(MAX_SUBSCRIPTIONS)
    .default([])
    .describe('The checks that the channel is notified of.'),
  titleTemplate: templateField(
    'The first line of messages: a Handlebars template of plain text with the variables of notifications; null for the default.',
  ),
  textTemplate: templateField(
    'The text below the first line: a template of the same kind; null for the default.',
  ),
  logicalId: logicalIdField,
};

function typeOf<const Type extends AlertChannelType>(type: Type) {
  return z.literal(type).describe('The type of the channel. It never changes.');
}

/** @param receiver completes "Where … receives" */
function receiving<Config extends z.ZodType>(config: Config, receiver: string): Config {
  return config.describe(receiverText(receiver));
}

function serviceShape<Type extends ServiceChannelType>(type: Type) {
  const { label } = SERVICE_CHANNELS[type];
  const described: z.ZodType = receiving(SERVICE_CHANNELS[type].config, label);
  // The compiler cannot see that a description does not change the type.
  const config = described as (typeof SERVICE_CHANNELS)[Type]['config'];
  const own = SERVICE_CHANNELS[type].closes ? noBundling : bundling;
  return z.strictObject({ type: typeOf(type), config, ...common, ...own });
}

/** The writable fields of each type of channel. */
export const ALERT_CHANNEL_SHAPES = {
  EMAIL: z.strictObject({
    type: typeOf('EMAIL'),
    config: receiving(emailConfig, 'a mailbox'),
    ...common,
  }),
  WEBHOOK: z.strictObject({
    type: typeOf('WEBHOOK'),
    config: receiving(webhookConfig, 'a server of your own'),
    ...common,
  }),
  SLACK: z.strictObject({
    type: typeOf('SLACK'),
    config: receiving(slackConfig, 'Slack'),
    ...common,
  }),
  SMS: z.strictObject({
    type: typeOf('SMS'),
    config: receiving(smsConfig, 'a phone'),
    ...common,
  }),
  TEAMS: serviceShape('TEAMS'),
  DISCORD: serviceShape('DISCORD'),
  TELEGRAM: serviceShape('TELEGRAM'),
  PAGERDUTY: serviceShape('PAGERDUTY'),
  OPSGENIE: serviceShape('OPSGENIE'),
  NTFY: serviceShape('NTFY'),
  PUSHOVER: serviceShape('PUSHOVER'),
  GOOGLE_CHAT: serviceShape('GOOGLE_CHAT'),
  MATTERMOST: serviceShape('MATTERMOST'),
  MATRIX: serviceShape('MATRIX'),
  GOTIFY: serviceShape('GOTIFY'),
  INCIDENT_IO: serviceShape('INCIDENT_IO'),
  ALERTMANAGER: serviceShape('ALERTMANAGER'),
} as const;

/** A channel in requests of the API. */
export const alertChannelSchema = z.discriminatedUnion('type', [
  ALERT_CHANNEL_SHAPES.EMAIL,
  ALERT_CHANNEL_SHAPES.WEBHOOK,
  ALERT_CHANNEL_SHAPES.SLACK,
  ALERT_CHANNEL_SHAPES.SMS,
  ALERT_CHANNEL_SHAPES.TEAMS,
  ALERT_CHANNEL_SHAPES.DISCORD,
  ALERT_CHANNEL_SHAPES.TELEGRAM,
  ALERT_CHANNEL_SHAPES.PAGERDUTY,
  ALERT_CHANNEL_SHAPES.OPSGENIE,
  ALERT_CHANNEL_SHAPES.NTFY,
  ALERT_CHANNEL_SHAPES.PUSHOVER,
  ALERT_CHANNEL_SHAPES.GOOGLE_CHAT,
  ALERT_CHANNEL_SHAPES.MATTERMOST,
  ALERT_CHANNEL_SHAPES.MATRIX,
  ALERT_CHANNEL_SHAPES.GOTIFY,
  ALERT_CHANNEL_SHAPES.INCIDENT_IO,
  ALERT_CHANNEL_SHAPES.ALERTMANAGER,
]);
export type AlertChannel = z.infer<typeof alertChannelSchema>;

/** The types without secrets that responses leave out. */
type PlainTarget =
  | { readonly type: 'EMAIL'; readonly config: EmailConfig }
  | { readonly type: 'SLACK'; readonly config: SlackConfig }
  | { readonly type: 'SMS'; readonly config: SmsConfig };

/** The recipient of a channel's notices. */
export type ChannelTarget =
  | PlainTarget
  | { readonly type: 'WEBHOOK'; readonly config: WebhookConfig }
  | ServiceTarget;

/** The recipient of a channel's notices, without secrets. */
export type PublicTarget =
  | PlainTarget
  | { readonly type: 'WEBHOOK'; readonly config: PublicWebhookConfig }
  | PublicServiceTarget;

/** The templates of a channel's messages; null for the default. */
export type MessageTemplates = Readonly<Pick<AlertChannel, 'titleTemplate' | 'textTemplate'>>;

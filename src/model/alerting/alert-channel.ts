import { z } from 'zod';
import { logicalIdField } from '../logical-id.ts';
import { DAY_MS } from '../time-units.ts';
import type { AlertType } from './alert.ts';
import { channelName, receiverText, webAddress } from './channel-fields.ts';
import { MONITORING_PROBLEMS, type MonitoringProblem } from './monitoring-problems.ts';
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

export const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

/** In UTF-8. */
export const MAX_TEMPLATE_BYTES = 10 * 1024;
const MAX_PAIRS = 50;
const MAX_SUBSCRIPTIONS = 10_000;
const MAX_SECRET_CHARS = 1000;

const EMAIL_ADDRESS = /^[^\s@"(),:;<>[\\\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;
const PHONE_NUMBER = /^\+[1-9][0-9]{4,14}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 5.5: no control characters in a value except the tab. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
/** Headers of the connection and of the signature, which users may not set. */
const OWN_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|proxy-connection|upgrade|expect|te|trailer|x-service-.*)$/i;

const pair = z.strictObject({
  key: z.string().min(1).max(255).describe('The name of the header or parameter.'),
  value: z
    .string()
    .max(20_000)
    .default('')
    .describe(
      'The value, returned empty if it is locked. An update that sends a locked value empty keeps the stored one.',
    ),
  locked: z.boolean().default(false).describe('Whether the value is never returned.'),
});

const header = pair.superRefine(({ key, value }, context) => {
  const refuse = (field: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (!HEADER_NAME.test(key)) refuse('key', 'must be a valid header name');
  else if (OWN_HEADERS.test(key))
    refuse('key', `must not be ${key}, which the service sets itself`);
  if (!HEADER_VALUE.test(value)) {
    refuse('value', 'must contain only visible Latin-1 characters, spaces and tabs');
  }
});

const emailConfig = z.strictObject({
  address: z
    .string()
    .max(254)
    .refine((text) => EMAIL_ADDRESS.test(text) && !text.includes('..'), {
      error: 'must be an e-mail address without a name, for example ops@example.com',
    })
    .meta({ pattern: EMAIL_ADDRESS.source })
    .describe('One e-mail address.'),
});

function templateField(description: string) {
  return z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MAX_TEMPLATE_BYTES, {
      error: `must have at most ${MAX_TEMPLATE_BYTES} bytes`,
    })
    .nullable()
    .default(null)
    .describe(description);
}

const webhookConfig = z.strictObject({
  name: channelName.describe('The name of the webhook.'),
  url: webAddress.describe('The URL that receives the request. Redirects are not followed.'),
  method: z
    .enum(WEBHOOK_METHODS)
    .default('POST')
    .describe('The HTTP method. GET and HEAD requests have no body.'),
  template: templateField(
    'The body as a Handlebars template with the variables of notices; null sends all variables as a JSON object. The helpers are if, unless, each, eq and json; at most 200 tags.',
  ),
  headers: z
    .array(header)
    .max(MAX_PAIRS)
    .default([])
    .describe('The request headers. The content type is application/json unless a header sets it.'),
  queryParameters: z
    .array(pair)
    .max(MAX_PAIRS)
    .default([])
    .describe('Query parameters, added to the URL.'),
  webhookSecret: z
    .string()
    .min(1)
    .max(MAX_SECRET_CHARS)
    .nullable()
    .optional()
    .describe(
      'The key of the signature in x-service-signature; null for no signature. It is never returned; an update that omits it keeps the stored key.',
    ),
});

const slackConfig = z.strictObject({ url: webAddress.describe('The URL of an incoming webhook.') });

const smsConfig = z.strictObject({
  number: z
    .string()
    .refine((text) => PHONE_NUMBER.test(text), {
      error: 'must be a number in the international form, for example +4915112345678',
    })
    .meta({ pattern: PHONE_NUMBER.source })
    .describe('The phone number with + and the country code, without spaces (E.164).'),
  name: channelName.describe('The name of the recipient.'),
});

const subscription = z.strictObject({
  checkId: z.string().min(1).max(100).describe('The id of the check.'),
  activated: z.boolean().default(true).describe('Whether the channel is notified of the check.'),
});

const wishes = {
  sendFailure: z.boolean().default(true).describe('Whether the channel is notified of failures.'),
  sendRecovery: z
    .boolean()
    .default(true)
    .describe('Whether the channel is notified when a failing or degraded check passes again.'),
  sendDegraded: z
    .boolean()
    .default(false)
    .describe('Whether the channel is notified of degraded checks.'),
  sendLocationSilent: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether the channel is notified of silent private locations; null: the same as `sendFailure`.',
    ),
  sendMonitoringProblems: z
    .array(z.enum(MONITORING_PROBLEMS))
    .max(MONITORING_PROBLEMS.length)
    .nullable()
    .default(null)
    .describe(
      'The problems of monitoring itself that the channel is notified of; null: all of them with `sendFailure`, otherwise none.',
    ),
  sslExpiry: z
    .boolean()
    .default(false)
    .describe('Whether the channel is notified of certificates that expire soon.'),
  sslExpiryThreshold: z
    .int()
    .min(1)
    .max(30)
    .default(30)
    .describe('How many days before a certificate expires the channel is notified, once.'),
};

const groupBy = z.enum(['LOCATION', 'GROUP', 'TAG']).nullable();
const digestHour = z.int().min(0).max(23).nullable();
const GROUP_BY_TEXT =
  'What the notices of one message have in common: the location of the run, the group of the check, or its first tag. null: one message for each notice.';
const DIGEST_TEXT =
  "The hour of the day, in the account's time zone, in which one message lists the degraded checks of the last day; null: each is sent at once. Only with `sendDegraded`.";

/** How a channel gets fewer messages: src/service/README.md, "Grouping and digest". */
const bundling = {
  groupBy: groupBy.default(null).describe(GROUP_BY_TEXT),
  groupWindow: z
    .int()
    .min(5)
    .max(300)
    .default(20)
    .describe('How many seconds the first notice of a message waits for others, if `groupBy` is given.'),
  degradedDigestHour: digestHour.default(null).describe(DIGEST_TEXT),
};

const isNull = (value: unknown): boolean => value === null;
const ONE_EACH = {
  error:
    'must be null: this service needs one message for each notice, so that the end of a problem closes its incident',
};

/** For services that close an incident by the key of its problem. */
const noBundling: typeof bundling = {
  ...bundling,
  groupBy: groupBy.refine(isNull, ONE_EACH).default(null).describe(GROUP_BY_TEXT),
  degradedDigestHour: digestHour.refine(isNull, ONE_EACH).default(null).describe(DIGEST_TEXT),
};

const common = {
  ...wishes,
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
    'The first line of messages: a Handlebars template of plain text with the variables of notices; null for the default.',
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

export type EmailConfig = z.infer<typeof emailConfig>;
export type WebhookConfig = z.infer<typeof webhookConfig>;
export type SlackConfig = z.infer<typeof slackConfig>;
export type SmsConfig = z.infer<typeof smsConfig>;

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

/** A webhook without its secrets: locked values are empty, the key is replaced by a flag. */
export type PublicWebhookConfig = Omit<WebhookConfig, 'webhookSecret'> & {
  readonly hasWebhookSecret: boolean;
};

/** The recipient of a channel's notices, without secrets. */
export type PublicTarget =
  | PlainTarget
  | { readonly type: 'WEBHOOK'; readonly config: PublicWebhookConfig }
  | PublicServiceTarget;

/** A header or a query parameter of a webhook. */
export type ChannelPair = z.infer<typeof pair>;

/** The templates of a channel's messages; null for the default. */
export type MessageTemplates = Readonly<Pick<AlertChannel, 'titleTemplate' | 'textTemplate'>>;

/** The notices that a channel receives. */
export type NoticePreferences = Readonly<
  Pick<
    AlertChannel,
    | 'sendFailure'
    | 'sendRecovery'
    | 'sendDegraded'
    | 'sendLocationSilent'
    | 'sslExpiry'
    | 'sslExpiryThreshold'
  >
>;

/** How a channel gets fewer messages. */
export type ChannelBundling = Readonly<
  Pick<AlertChannel, 'groupBy' | 'groupWindow' | 'degradedDigestHour'>
>;

const WISH_FOR: Readonly<
  Record<AlertType, 'sendFailure' | 'sendRecovery' | 'sendDegraded' | 'sslExpiry' | null>
> = {
  NO_ALERT: null,
  ALERT_FAILURE: 'sendFailure',
  ALERT_FAILURE_REMAIN: 'sendFailure',
  ALERT_FAILURE_DEGRADED: 'sendDegraded',
  ALERT_RECOVERY: 'sendRecovery',
  ALERT_DEGRADED: 'sendDegraded',
  ALERT_DEGRADED_REMAIN: 'sendDegraded',
  ALERT_DEGRADED_FAILURE: 'sendFailure',
  ALERT_DEGRADED_RECOVERY: 'sendRecovery',
  ALERT_SSL: 'sslExpiry',
};

/**
 * Whether a channel receives a notice, by its type. For a certificate, its remaining whole days
 * must not exceed the channel's threshold.
 */
export function wantsNotice(
  channel: NoticePreferences,
  notice: { readonly alertType: AlertType; readonly sslDaysRemaining: number | null },
): boolean {
  const wish = WISH_FOR[notice.alertType];
  if (wish === null || !channel[wish]) return false;
  if (notice.alertType !== 'ALERT_SSL') return true;
  return notice.sslDaysRemaining !== null && notice.sslDaysRemaining <= channel.sslExpiryThreshold;
}

/** Whether a channel receives the notice that a private location is silent. */
export function wantsSilence({ sendLocationSilent, sendFailure }: NoticePreferences): boolean {
  return sendLocationSilent ?? sendFailure;
}

/** What decides whether a channel receives notices of problems of monitoring itself. */
export type ProblemPreferences = Readonly<
  Pick<AlertChannel, 'sendFailure' | 'sendMonitoringProblems'>
>;

/** Whether a channel receives the notice that a problem of monitoring itself has begun. */
export function wantsProblem(
  { sendMonitoringProblems, sendFailure }: ProblemPreferences,
  problem: MonitoringProblem,
): boolean {
  return sendMonitoringProblems?.includes(problem) ?? sendFailure;
}

/** Whole days are inexact by up to one day at either end. */
const SAME_END_MS = 2 * DAY_MS;

/** Epoch milliseconds at which a certificate expires, exact to a day. */
export function certificateEndMs(atMs: number, daysRemaining: number): number {
  return atMs + daysRemaining * DAY_MS;
}

/** Whether two expiry instants belong to the same certificate: a renewal moves it further. */
export function isSameCertificateEnd(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= SAME_END_MS;
}

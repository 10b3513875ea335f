import { z } from 'zod';
import { channelName, webAddress } from './channel-fields.ts';

/**
 * Channels that send to a chat, a push service or an incident service in its own format:
 * src/service/README.md, "Chats, push and incident services". This table is the only place that
 * lists their fields: the API, the check file, the form of the dashboard and the documents are
 * generated from it. The adapters that write the notifications are in
 * src/service/alerts/senders/adapters.
 */
export const SERVICE_CHANNEL_TYPES = [
  'TEAMS',
  'DISCORD',
  'TELEGRAM',
  'PAGERDUTY',
  'OPSGENIE',
  'NTFY',
  'PUSHOVER',
  'GOOGLE_CHAT',
  'MATTERMOST',
  'MATRIX',
  'GOTIFY',
  'INCIDENT_IO',
  'ALERTMANAGER',
] as const;
export type ServiceChannelType = (typeof SERVICE_CHANNEL_TYPES)[number];

interface ServiceChannel<Config extends z.ZodObject> {
  /** The name of the service. */
  readonly label: string;
  /** Where users find the values of the fields. One sentence. */
  readonly setup: string;
  readonly method: 'POST' | 'PUT';
  /** Whether the end of a problem closes the incident that its beginning opened, by the same key. */
  readonly closes: boolean;
  /**
   * Fields of the configuration that are encrypted and never returned. An update that omits one keeps
   * the stored value.
   */
  readonly secrets: readonly (keyof z.infer<Config> & string)[];
  /** Fields that keys without write permission do not see, besides the path of `url`. */
  readonly masked?: readonly (keyof z.infer<Config> & string)[];
  /** The fields that a user must set, as examples. */
  readonly sample: z.input<Config>;
  /** Every one has `name` and `url`. */
  readonly config: Config;
}

function serviceChannel<Config extends z.ZodObject>(
  channel: ServiceChannel<Config>,
): ServiceChannel<Config> {
  return channel;
}

/** Secrets become parts of headers, URLs and forms. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

const secret = z
  .string()
  .min(1)
  .max(1000)
  .refine((text) => VISIBLE_ASCII.test(text), {
    error: 'must consist of visible ASCII characters without spaces',
  });
const KEEPS = 'It is never returned; an update that omits it keeps the stored one.';

const named = (label: string) => channelName.default(label).describe('The name of the channel.');
const hook = (text: string) => webAddress.describe(text);
const base = (address: string, text: string) => webAddress.default(address).describe(text);
const identifier = (max: number) => z.string().min(1).max(max);

export const SERVICE_CHANNELS = {
  TEAMS: serviceChannel({
    label: 'Microsoft Teams',
    setup:
      'In Teams: Workflows, "Post to a channel when a webhook request is received", then copy its URL.',
    method: 'POST',
    closes: false,
    secrets: [],
    sample: {
      url: 'https://example.logic.azure.com/workflows/abc?sig=xyz',
    },
    config: z.strictObject({
      name: named('Microsoft Teams'),
      url: hook('The URL of the workflow.'),
    }),
  }),
  DISCORD: serviceChannel({
    label: 'Discord',
    setup: 'In Discord: Edit Channel, Integrations, Webhooks, Copy Webhook URL.',
    method: 'POST',
    closes: false,
    secrets: [],
    sample: { url: 'https://discord.com/api/webhooks/1234/abcd' },
    config: z.strictObject({ name: named('Discord'), url: hook('The URL of the webhook.') }),
  }),
  TELEGRAM: serviceChannel({
    label: 'Telegram',
    setup: 'Make a bot with @BotFather, which returns its token, and add the bot to the chat.',
    method: 'POST',
    closes: false,
    secrets: ['botToken'],
    sample: { botToken: '123456:ABC-def', chatId: '-1001234567890' },
    config: z.strictObject({
      name: named('Telegram'),
      botToken: secret.describe(`The token of the bot. ${KEEPS}`),
      chatId: identifier(100)
        .refine((text) => /^(?:-?\d+|@\w+)$/.test(text), {
          error: 'must be the number of a chat, or the name of a public channel after @',
        })
        .describe('The number of the chat, or `@` and the name of a public channel.'),
      threadId: z
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('The number of a topic of a forum; null for none.'),
      url: base('https://api.telegram.org', 'The address of the Bot API, without a path.'),
    }),
  }),
  PAGERDUTY: serviceChannel({
    label: 'PagerDuty',
    setup:
      'In PagerDuty: Services, your service, Integrations, "Events API V2", then copy the integration key.',
    method: 'POST',
    closes: true,
    secrets: ['routingKey'],
    sample: { routingKey: 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6' },
    config: z.strictObject({
      name: named('PagerDuty'),
      routingKey: secret.max(100).describe(`The integration key of Events API v2. ${KEEPS}`),
      url: base(
        'https://events.pagerduty.com',
        'The address of the Events API without a path. For accounts in the EU https://events.eu.pagerduty.com.',
      ),
    }),
  }),
  OPSGENIE: serviceChannel({
    label: 'Opsgenie',
    setup: 'In Opsgenie: Teams, your team, Integrations, API, then copy the API key.',
    method: 'POST',
    closes: true,
    secrets: ['apiKey'],
    sample: { apiKey: '12345678-90ab-cdef-1234-567890abcdef' },
    config: z.strictObject({
      name: named('Opsgenie'),
      apiKey: secret.describe(`The API key of an API integration. ${KEEPS}`),
      priority: z
        .enum(['P1', 'P2', 'P3', 'P4', 'P5'])
        .default('P2')
        .describe('The priority of failures. All others have the next lower one.'),
      url: base(
        'https://api.opsgenie.com',
        'The address of the API without a path. For accounts in the EU https://api.eu.opsgenie.com.',
      ),
    }),
  }),
  NTFY: serviceChannel({
    label: 'ntfy',
    setup: 'Choose a topic that nobody guesses and subscribe to it in the app.',
    method: 'POST',
    closes: false,
    secrets: ['token'],
    // Whoever knows the topic of a public server can send to it.
    masked: ['topic'],
    sample: { topic: 'my-alerts-7f3a' },
    config: z.strictObject({
      name: named('ntfy'),
      topic: z
        .string()
        .regex(/^[\w-]{1,64}$/, {
          error: 'must be 1 to 64 letters, digits, dashes and underscores',
        })
        .describe('The topic. Whoever knows it can read it, unless the server protects it.'),
      token: secret
        .nullable()
        .default(null)
        .describe(`An access token; null for a topic that anyone may publish to. ${KEEPS}`),
      url: base('https://ntfy.sh', 'The address of the server.'),
    }),
  }),
  PUSHOVER: serviceChannel({
    label: 'Pushover',
    setup: 'On pushover.net: the user key is on the first page; make an application for its token.',
    method: 'POST',
    closes: false,
    secrets: ['token', 'userKey'],
    sample: { token: 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5', userKey: 'u1b2c3d4e5f6a7b8c9d0e1f2a3b4c5' },
    config: z.strictObject({
      name: named('Pushover'),
      token: secret.max(100).describe(`The API token of the application. ${KEEPS}`),
      userKey: secret.max(100).describe(`The key of the user or the group. ${KEEPS}`),
      device: z
        .string()
        .regex(/^[\w-]{1,25}$/, {
          error: 'must be 1 to 25 letters, digits, dashes and underscores',
        })
        .nullable()
        .default(null)
        .describe('The only device to notify; null for all.'),
      url: base('https://api.pushover.net', 'The address of the API, without a path.'),
    }),
  }),
  GOOGLE_CHAT: serviceChannel({
    label: 'Google Chat',
    setup: 'In a space: Apps & integrations, Webhooks, then copy the link.',
    method: 'POST',
    closes: false,
    secrets: [],
    sample: { url: 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=abc&token=xyz' },
    config: z.strictObject({
      name: named('Google Chat'),
      url: hook('The URL of the webhook, with its key and token.'),
    }),
  }),
  MATTERMOST: serviceChannel({
    label: 'Mattermost',
    setup: 'In Mattermost: Integrations, Incoming Webhooks, Add Incoming Webhook.',
    method: 'POST',
    closes: false,
    secrets: [],
    sample: { url: 'https://mattermost.example.com/hooks/abc123' },
    config: z.strictObject({
      name: named('Mattermost'),
      url: hook('The URL of the incoming webhook.'),
    }),
  }),
  MATRIX: serviceChannel({
    label: 'Matrix',
    setup: 'Invite the user of the access token to the room; the room ID is in its settings.',
    method: 'PUT',
    closes: false,
    secrets: ['accessToken'],
    sample: {
      url: 'https://matrix.example.com',
      roomId: '!abc:example.com',
      accessToken: 'syt_abc',
    },
    config: z.strictObject({
      name: named('Matrix'),
      url: hook('The address of the homeserver.'),
      roomId: identifier(255)
        .refine((text) => /^![\x21-\x7e]+$/.test(text), {
          error: 'must be the ID of a room, for example !abc:example.com',
        })
        .describe('The ID of the room, which begins with `!`. An alias does not work.'),
      accessToken: secret.describe(`The access token of a user in the room. ${KEEPS}`),
    }),
  }),
  GOTIFY: serviceChannel({
    label: 'Gotify',
    setup: 'In Gotify: Apps, Create Application, then copy its token.',
    method: 'POST',
    closes: false,
    secrets: ['token'],
    sample: { url: 'https://gotify.example.com', token: 'A1b2C3d4' },
    config: z.strictObject({
      name: named('Gotify'),
      url: hook('The address of the server.'),
      token: secret.describe(`The token of the application. ${KEEPS}`),
    }),
  }),
  INCIDENT_IO: serviceChannel({
    label: 'incident.io',
    setup: 'In incident.io: Alerts, Sources, HTTP, then copy the URL and the token.',
    method: 'POST',
    closes: true,
    secrets: ['token'],
    sample: { url: 'https://api.incident.io/v2/alert_events/http/01ABC', token: 'abc123' },
    config: z.strictObject({
      name: named('incident.io'),
      url: hook('The URL of the HTTP alert source.'),
      token: secret.describe(`The token of the alert source. ${KEEPS}`),
    }),
  }),
  ALERTMANAGER: serviceChannel({
    label: 'Alertmanager',
    setup: 'The address of one Alertmanager of the cluster, as Prometheus has it.',
    method: 'POST',
    closes: true,
    secrets: ['password'],
    sample: { url: 'https://alertmanager.example.com' },
    config: z.strictObject({
      name: named('Alertmanager'),
      url: hook('The address of the Alertmanager, with its path prefix if it has one.'),
      username: z
        .string()
        .min(1)
        .max(255)
        .refine((text) => /^[^:\p{Cc}]+$/u.test(text), {
          error: 'must contain neither colons nor control characters',
        })
        .nullable()
        .default(null)
        .describe('The user for basic authentication; null for none.'),
      password: secret
        .nullable()
        .default(null)
        .describe(`The password for basic authentication; null for none. ${KEEPS}`),
    }),
  }),
} as const satisfies Record<ServiceChannelType, unknown>;

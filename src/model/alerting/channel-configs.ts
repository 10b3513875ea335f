import { z } from 'zod';
import { channelName, webAddress } from './channel-fields.ts';

/** The configurations of email, webhook, Slack and SMS channels; see also service-channels.ts. */

const WEBHOOK_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

/** In UTF-8. */
const MAX_TEMPLATE_BYTES = 10 * 1024;
const MAX_PAIRS = 50;
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

export const emailConfig = z.strictObject({
  address: z
    .string()
    .max(254)
    .refine((text) => EMAIL_ADDRESS.test(text) && !text.includes('..'), {
      error: 'must be an email address without a name, for example ops@example.com',
    })
    .meta({ pattern: EMAIL_ADDRESS.source })
    .describe('One email address.'),
});

/** A Handlebars template, or null. */
export function templateField(description: string) {
  return z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MAX_TEMPLATE_BYTES, {
      error: `must have at most ${MAX_TEMPLATE_BYTES} bytes`,
    })
    .nullable()
    .default(null)
    .describe(description);
}

export const webhookConfig = z.strictObject({
  name: channelName.describe('The name of the webhook.'),
  url: webAddress.describe('The URL that receives the request. Redirects are not followed.'),
  method: z
    .enum(WEBHOOK_METHODS)
    .default('POST')
    .describe('The HTTP method. GET and HEAD requests have no body.'),
  template: templateField(
    'The body as a Handlebars template with the variables of notifications; null sends all variables as a JSON object. The helpers are if, unless, each, eq and json; at most 200 tags.',
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

export const slackConfig = z.strictObject({
  url: webAddress.describe('The URL of an incoming webhook.'),
});

export const smsConfig = z.strictObject({
  number: z
    .string()
    .refine((text) => PHONE_NUMBER.test(text), {
      error: 'must be a number in the international form, for example +4915112345678',
    })
    .meta({ pattern: PHONE_NUMBER.source })
    .describe('The phone number with + and the country code, without spaces (E.164).'),
  name: channelName.describe('The name of the recipient.'),
});

export type EmailConfig = z.infer<typeof emailConfig>;
export type WebhookConfig = z.infer<typeof webhookConfig>;
export type SlackConfig = z.infer<typeof slackConfig>;
export type SmsConfig = z.infer<typeof smsConfig>;

/** A header or a query parameter of a webhook. */
export type ChannelPair = z.infer<typeof pair>;

/** A webhook without its secrets: locked values are empty, the key is replaced by a flag. */
export type PublicWebhookConfig = Omit<WebhookConfig, 'webhookSecret'> & {
  readonly hasWebhookSecret: boolean;
};

import { z } from 'zod';
import { ASSERTION_SOURCES } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/assertion-schema.ts';
import { changedAuthSchema, requestAuthSchema } from './request-auth.ts';
import { urlSchema as url } from './request-url.ts';
import { ipFamily, refuseBothForAddress, skipSSL } from './shared-fields.ts';

/** The requests of URL and API checks: src/model/README.md, "The check file". */

export const API_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
export const BODY_TYPES = ['JSON', 'FORM', 'RAW', 'GRAPHQL', 'NONE'] as const;

const value = z.string().max(20_000);
const keyValue = z
  .strictObject({
    key: z.string().min(1).max(2048).describe('The name of the header or parameter.'),
    value: value.default('').describe('Its value.'),
    locked: z
      .boolean()
      .default(false)
      .describe(
        'Stored and returned as a note for users. The value remains visible to everyone who can read the check.',
      ),
  })
  .meta({ title: 'KeyValue' });

/**
 * RFC 9110 5.5: visible Latin-1 characters, spaces and tabs; no line breaks, no control characters.
 */
export function isHeaderValue(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  return !/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(text);
}

/** RFC 9110 5.1: a token. */
export const HEADER_NAME: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Only the value may contain templates. */
const header = keyValue.superRefine(({ key, value }, context) => {
  if (!HEADER_NAME.test(key)) {
    context.addIssue({ code: 'custom', path: ['key'], message: 'must be a valid header name' });
  }
  if (!isHeaderValue(value)) {
    context.addIssue({
      code: 'custom',
      path: ['value'],
      message: 'must contain only visible Latin-1 characters, spaces and tabs',
    });
  }
});

/** null if the URL is not valid, which its own schema reports. */
function hostOf(text: string): string | null {
  return URL.canParse(text) ? new URL(text).hostname : null;
}

const followRedirects = z
  .boolean()
  .default(true)
  .describe('Whether redirects are followed, at most 10.');

const traceparent = z
  .boolean()
  .default(false)
  .describe(
    'Whether requests carry the header traceparent (W3C Trace Context), which is also in the job log. A header of the check with this name replaces it.',
  );

export const urlRequestSchema = z
  .strictObject({
    url,
    method: z.literal('GET').default('GET').describe('The HTTP method, always GET.'),
    followRedirects,
    traceparent,
    skipSSL,
    ipFamily,
    assertions: assertionsOf(ASSERTION_SOURCES.URL),
  })
  .superRefine(({ url, ipFamily }, context) => refuseBothForAddress(hostOf(url), ipFamily, context))
  .meta({ title: 'UrlRequest' });
export type UrlRequest = z.infer<typeof urlRequestSchema>;

const MAX_HEADERS = 100;
const password = z.string().max(1024).describe('The password, returned as ********.');
const username = z.string().max(1024).describe('The user name.');
const basicAuth = z.strictObject({ username, password });

const apiRequest = z.strictObject({
  method: z.enum(API_METHODS).default('GET').describe('The HTTP method.'),
  url,
  headers: z
    .array(header)
    .max(MAX_HEADERS)
    .default([])
    .describe(
      'The request headers as {key, value}. Values of Authorization and similar headers are returned as ********.',
    ),
  queryParameters: z
    .array(keyValue)
    .max(100)
    .default([])
    .describe('Query parameters as {key, value}, added to the URL.'),
  bodyType: z
    .enum(BODY_TYPES)
    .default('NONE')
    .describe('The format of `body`. Sets the Content-Type unless a header does.'),
  body: z.string().max(1_000_000).default('').describe('The text of the request body.'),
  basicAuth: basicAuth
    .nullable()
    .default(null)
    .describe(
      'Credentials as {username, password}. The password is returned as ********; if it is empty, the username is.',
    ),
  auth: requestAuthSchema
    .nullable()
    .default(null)
    .describe(
      'Digest authentication, an AWS signature or an OAuth2 token; in place of `basicAuth`. See Authentication of API checks.',
    ),
  followRedirects,
  traceparent,
  skipSSL,
  ipFamily,
  assertions: assertionsOf(ASSERTION_SOURCES.API),
});
export const apiRequestSchema = apiRequest
  .refine(({ basicAuth: basic, auth }) => basic === null || auth === null, {
    path: ['auth'],
    message: 'must be null if basicAuth is given: a request has one of them',
  })
  .superRefine(({ url, ipFamily }, context) => refuseBothForAddress(hostOf(url), ipFamily, context))
  .meta({ title: 'ApiRequest' });
export type ApiRequest = z.infer<typeof apiRequestSchema>;

/**
 * The request of an update, before stored credentials are filled in. Headers are validated
 * afterwards.
 */
export const changedApiRequestSchema = apiRequest.extend({
  headers: z
    .array(
      keyValue.extend({
        value: value.nullable().optional().describe('Its value; see `headers`.'),
      }),
    )
    .max(MAX_HEADERS)
    .optional()
    .describe(
      'The stored value of Authorization and similar headers is kept if the update omits it or sends ********, and scheme, host and port of `url` and the Host header do not change; null removes the header. If `headers` is omitted, all of these headers are kept.',
    ),
  basicAuth: basicAuth
    .extend({
      username: username.optional(),
      password: password
        .nullable()
        .optional()
        .describe('The password. If it is omitted or ********, the stored one may stay.'),
    })
    .nullable()
    .optional()
    .describe(
      'Kept if omitted. The password, or the username without a password, is kept if the update omits it or sends ********, and scheme, host and port of `url` and the Host header do not change. null removes the credentials.',
    ),
  auth: changedAuthSchema
    .nullable()
    .optional()
    .describe(
      'Kept if omitted. Secrets are kept if the update omits them or sends ********, and `type`, scheme, host and port of `url` and `tokenUrl`, and the Host header do not change. null removes the credentials.',
    ),
});

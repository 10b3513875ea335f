import { isIP } from 'node:net';
import { z } from 'zod';
import { IP_FAMILIES } from '../enums.ts';
import { ASSERTION_SOURCES } from './assertion.ts';
import { assertionsOf } from './assertion-schema.ts';
import { parsePattern } from './expressions.ts';
import { changedAuthSchema, requestAuthSchema } from './request-auth.ts';
import { urlSchema as url } from './request-url.ts';

/** The requests of each check type: src/model/README.md, "The check file". */

const ipFamily = z
  .enum(IP_FAMILIES)
  .default('IPv4')
  .describe('The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.');

const HOST_NAME =
  /^(?=.{1,253}\.?$)[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?(\.[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?)*\.?$/u;

const hostname = z
  .string()
  .min(1)
  .max(253)
  .refine((text) => isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0 || HOST_NAME.test(text), {
    message: 'must be a host name or an IP address, without scheme, port or path',
  })
  .describe('A host name or IP address, without scheme or port.');

const port = z.int().min(1).max(65_535).describe('The port to connect to.');

export const API_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
export const BODY_TYPES = ['JSON', 'FORM', 'RAW', 'GRAPHQL', 'NONE'] as const;
export const DNS_RECORD_TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'MX',
  'TXT',
  'SOA',
  'NS',
  'SRV',
  'CAA',
  'PTR',
  'HTTPS',
  'DS',
  'DNSKEY',
  'TLSA',
] as const;
export const DNS_PROTOCOLS = ['UDP', 'TCP', 'DOT', 'DOH'] as const;
export type DnsProtocol = (typeof DNS_PROTOCOLS)[number];
/** Those that a name server of resolv.conf can be asked over. */
export type PlainDnsProtocol = Extract<DnsProtocol, 'UDP' | 'TCP'>;
export const DOH_METHODS = ['POST', 'GET'] as const;

const DNS_PORT = 53;
const ENCRYPTED_DNS_PORTS = { DOT: 853, DOH: 443 } as const;

/**
 * The port that a DNS check connects to. RFC 7858 3.1 forbids TLS on port 53, and HTTP clients
 * refuse it, so that 53, the default of the field, can stand for the protocol's own port.
 */
export function dnsPortOf({ protocol, port }: Pick<DnsRequest, 'protocol' | 'port'>): number {
  if (port !== DNS_PORT || protocol === 'UDP' || protocol === 'TCP') return port;
  return ENCRYPTED_DNS_PORTS[protocol];
}

const value = z.string().max(20_000);
const keyValue = z
  .strictObject({
    key: z.string().min(1).max(2048),
    value: value.default(''),
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

/** Templates are for values only. */
const header = keyValue.superRefine(({ key, value }, context) => {
  if (!HEADER_NAME.test(key)) {
    context.addIssue({ code: 'custom', path: ['key'], message: 'must be a valid header name' });
  }
  if (!isHeaderValue(value)) {
    context.addIssue({
      code: 'custom',
      path: ['value'],
      message: 'must hold only visible Latin-1 characters, spaces and tabs',
    });
  }
});

const followRedirects = z
  .boolean()
  .default(true)
  .describe('Whether redirects are followed, at most 10.');
const skipSSL = z.boolean().default(false).describe('Whether any server certificate is accepted.');

export const urlRequestSchema = z
  .strictObject({
    url,
    method: z.literal('GET').default('GET').describe('The HTTP method, always GET.'),
    followRedirects,
    skipSSL,
    ipFamily,
    assertions: assertionsOf(ASSERTION_SOURCES.URL),
  })
  .meta({ title: 'UrlRequest' });
export type UrlRequest = z.infer<typeof urlRequestSchema>;

const MAX_HEADERS = 100;
const password = z.string().max(1024);
const basicAuth = z.strictObject({ username: z.string().max(1024), password });

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
  skipSSL,
  ipFamily,
  assertions: assertionsOf(ASSERTION_SOURCES.API),
});
export const apiRequestSchema = apiRequest
  .refine(({ basicAuth: basic, auth }) => basic === null || auth === null, {
    path: ['auth'],
    message: 'must be null if basicAuth is given: a request has one of them',
  })
  .meta({ title: 'ApiRequest' });
export type ApiRequest = z.infer<typeof apiRequestSchema>;

/**
 * The request of an update, before stored credentials are filled in. Headers are validated
 * afterwards.
 */
export const changedApiRequestSchema = apiRequest.extend({
  headers: z
    .array(keyValue.extend({ value: value.nullable().optional() }))
    .max(MAX_HEADERS)
    .optional()
    .describe(
      'The stored value of Authorization and similar headers is kept if the update omits it or sends ********, and scheme, host and port of `url` and the Host header do not change; null removes the header. If `headers` is omitted, all of these headers are kept.',
    ),
  basicAuth: basicAuth
    .extend({
      username: basicAuth.shape.username.optional(),
      password: password.nullable().optional(),
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

export const TCP_TLS = ['OFF', 'ON', 'STARTTLS'] as const;
/** The protocols whose upgrade to TLS the agent speaks. */
export const STARTTLS_PROTOCOLS = [
  'SMTP',
  'IMAP',
  'POP3',
  'FTP',
  'XMPP',
  'POSTGRESQL',
  'MYSQL',
  'LDAP',
] as const;
export type StartTlsProtocol = (typeof STARTTLS_PROTOCOLS)[number];

/** RFC 7301 3.1: 1 to 255 bytes. */
const alpnProtocol = z.string().regex(/^[\x21-\x7e]{1,255}$/, {
  message: 'must have 1 to 255 visible ASCII characters',
});

export const TCP_STEP_FORMATS = ['TEXT', 'HEX'] as const;
const MAX_TCP_STEPS = 20;
const HEX_BYTES = /^\s*(?:[\da-f]{2}\s*)*$/i;

const tcpStepSchema = z
  .strictObject({
    send: z
      .string()
      .max(16_384)
      .nullable()
      .default(null)
      .describe('What to send; null sends nothing.'),
    expect: z
      .string()
      .min(1)
      .max(2048)
      .nullable()
      .default(null)
      .describe(
        'What must arrive before the next step: a regular expression, or with HEX bytes. null waits for nothing.',
      ),
    format: z
      .enum(TCP_STEP_FORMATS)
      .default('TEXT')
      .describe('HEX: `send` and `expect` are bytes as hexadecimal digits.'),
  })
  .superRefine(({ send, expect, format }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    if ((send ?? '') === '' && expect === null) refuse('send', 'is needed, or expect');
    if (format === 'HEX') {
      const message = 'must be pairs of hexadecimal digits with format HEX, for example "16 03 01"';
      if (!HEX_BYTES.test(send ?? '')) refuse('send', message);
      if (!HEX_BYTES.test(expect ?? '') || expect?.trim() === '') refuse('expect', message);
      return;
    }
    const pattern = parsePattern(expect ?? '');
    if (typeof pattern === 'string') {
      refuse('expect', `is not a valid regular expression (${pattern.slice(0, 200)})`);
    }
  })
  .meta({ title: 'TcpStep' });
export type TcpStep = z.infer<typeof tcpStepSchema>;

export const tcpRequestSchema = z
  .strictObject({
    hostname,
    port,
    data: z
      .string()
      .max(65_536)
      .nullable()
      .default(null)
      .describe('The text to send after connecting.'),
    steps: z
      .array(tcpStepSchema)
      .max(MAX_TCP_STEPS)
      .default([])
      .describe('Instead of `data`: steps as {send, expect, format}, one after the other.'),
    tls: z
      .enum(TCP_TLS)
      .default('OFF')
      .describe(
        'OFF: no TLS. ON: TLS begins after connecting. STARTTLS: TLS begins after the upgrade of `startTlsProtocol`. `data` and `steps` are sent inside TLS.',
      ),
    startTlsProtocol: z
      .enum(STARTTLS_PROTOCOLS)
      .nullable()
      .default(null)
      .describe('The protocol whose upgrade to TLS is used. Required if `tls` is STARTTLS.'),
    serverName: hostname
      .nullable()
      .default(null)
      .describe(
        'The name that the certificate must be for, also sent to the server (SNI). If omitted, `hostname`.',
      ),
    alpnProtocols: z
      .array(alpnProtocol)
      .max(10)
      .default([])
      .describe('The application protocols that TLS offers (ALPN), in order of preference.'),
    skipSSL,
    ipFamily,
    assertions: assertionsOf(ASSERTION_SOURCES.TCP),
  })
  .superRefine(({ data, steps, tls, startTlsProtocol }, context) => {
    if (steps.length > 0 && (data ?? '') !== '') {
      const message = 'must be left out with steps: the first step can send it';
      context.addIssue({ code: 'custom', path: ['data'], message });
    }
    if ((tls === 'STARTTLS') === (startTlsProtocol !== null)) return;
    const message =
      tls === 'STARTTLS'
        ? `is needed with tls STARTTLS: one of ${STARTTLS_PROTOCOLS.join(', ')}`
        : 'must be left out unless tls is STARTTLS';
    context.addIssue({ code: 'custom', path: ['startTlsProtocol'], message });
  })
  .meta({ title: 'TcpRequest' });
export type TcpRequest = z.infer<typeof tcpRequestSchema>;

/** RFC 3986 3.3; the agent adds the query of a GET itself. */
const DOH_PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*$/;

export const dnsRequestSchema = z
  .strictObject({
    query: z.string().min(1).max(253).describe('The name to look up.'),
    recordType: z.enum(DNS_RECORD_TYPES).default('A').describe('The record type.'),
    nameServer: hostname
      .nullable()
      .default(null)
      .describe(
        'The name server to query. If omitted, the name servers of the system in their order. Needed for DOT and DOH.',
      ),
    port: port
      .default(DNS_PORT)
      .describe('The port to connect to. 53 stands for 853 with DOT, and for 443 with DOH.'),
    protocol: z
      .enum(DNS_PROTOCOLS)
      .default('UDP')
      .describe(
        'The transport protocol. A truncated UDP response is requested again over TCP. DOT is DNS over TLS, DOH is DNS over HTTPS.',
      ),
    serverName: hostname
      .nullable()
      .default(null)
      .describe(
        'DOT and DOH: the name that the certificate must be for, if it is not `nameServer`. It is sent as SNI, and to a DOH server as the host.',
      ),
    skipSSL,
    dohPath: z
      .string()
      .max(1024)
      .regex(DOH_PATH, 'must be a path like /dns-query, without query and fragment')
      .default('/dns-query')
      .describe('DOH: the path of the URL that is queried.'),
    dohMethod: z.enum(DOH_METHODS).default('POST').describe('DOH: the HTTP method.'),
    compareSerials: z
      .boolean()
      .default(false)
      .describe(
        'SOA over UDP or TCP: whether several name servers must all answer with the same serial.',
      ),
    compareServers: z
      .array(hostname)
      .max(16)
      .default([])
      .describe(
        'The name servers whose serials are compared. If empty, those that the NS records of the zone name.',
      ),
    assertions: assertionsOf(ASSERTION_SOURCES.DNS),
  })
  .refine(
    ({ query, recordType }) =>
      query === '.' ||
      (recordType === 'PTR' && isIP(query) !== 0) ||
      HOST_NAME.test(query.replace(/^\*\./, '')),
    {
      path: ['query'],
      message: 'must be a domain name, for example example.com; for PTR also an IP address',
    },
  )
  .refine(
    ({ protocol, nameServer }) =>
      nameServer !== null || !Object.hasOwn(ENCRYPTED_DNS_PORTS, protocol),
    {
      path: ['nameServer'],
      message:
        'is needed for DOT and DOH: the name servers of the system are asked over UDP or TCP',
    },
  )
  .refine(
    ({ compareSerials, recordType, protocol }) =>
      !compareSerials || (recordType === 'SOA' && !Object.hasOwn(ENCRYPTED_DNS_PORTS, protocol)),
    {
      path: ['compareSerials'],
      message: 'must be false, or the recordType SOA and the protocol UDP or TCP',
    },
  )
  .meta({ title: 'DnsRequest' });
export type DnsRequest = z.infer<typeof dnsRequestSchema>;

export const icmpRequestSchema = z
  .strictObject({
    hostname,
    pingCount: z
      .int()
      .min(1)
      .max(50)
      .default(10)
      .describe('The number of echo requests, sent 500 ms apart.'),
    ipFamily,
    assertions: assertionsOf(ASSERTION_SOURCES.ICMP),
  })
  .meta({ title: 'IcmpRequest' });
export type IcmpRequest = z.infer<typeof icmpRequestSchema>;

import { z } from 'zod';
import { ASSERTION_SOURCES } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/assertion-schema.ts';
import { parsePattern } from '../expressions.ts';
import { hostname, ipFamily, port, refuseBothForAddress, skipSSL } from './shared-fields.ts';

/** The request of TCP checks: src/model/README.md, "The check file". */

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
        'What must arrive before the next step: a regular expression, or bytes with HEX. null: nothing.',
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
  .superRefine(({ hostname, ipFamily, data, steps, tls, startTlsProtocol }, context) => {
    refuseBothForAddress(hostname, ipFamily, context);
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

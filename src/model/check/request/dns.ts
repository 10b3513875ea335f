import { isIP } from 'node:net';
import { z } from 'zod';
import { ASSERTION_SOURCES } from '../assertions/assertion.ts';
import { assertionsOf } from '../assertions/assertion-schema.ts';
import { HOST_NAME, hostname, port, skipSSL } from './shared-fields.ts';

/** The request of DNS checks: src/model/README.md, "The check file". */

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
/** The protocols over which a name server of resolv.conf can be queried. */
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
      .describe('The port to connect to. 53 means 853 with DOT, and 443 with DOH.'),
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
        'The name servers whose serials are compared. If empty, those in the NS records of the zone.',
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

import { z } from 'zod';
import { DNS_PROTOCOLS } from '../../../model/check/request/dns.ts';
import {
  DNS_FIELD_TEXTS,
  DNS_NUMBER_FIELDS,
  DNS_TEXT_FIELDS,
  type DnsNumberField,
  type DnsTextField,
} from '../../../model/result/details/dns-answer.ts';
import { duration } from '../durations.ts';
import { boundedList, text } from '../fields.ts';
import {
  commonDetail,
  end,
  host,
  PHASE_TIMES,
  PHASES,
  port,
  RECEIVED,
  SENT,
  TIMINGS,
  tlsFacts,
} from './common-detail.ts';

/** 256 KiB of names and data, with TTL, class and type of 5,461 records at most. */
const MAX_DNS_TEXT_CHARS = 1_048_576;
const MAX_DNS_RECORDS = 6_000;

const protocol = z.enum(DNS_PROTOCOLS).describe('How the name server is asked.');
const uint32 = z.int().min(0).max(0xffff_ffff);
const dnsText = text(524_288);
const dnsName = text(8192).describe('The domain name.');
const recordType = text(64).describe('The type of the records, such as A or MX.');

const dnsRecords = boundedList(
  z
    .object({
      name: dnsName,
      type: recordType,
      TTL: uint32.describe('How many seconds the record may be cached.'),
      data: dnsText.describe('Its data as text, as dig prints it.'),
      ...fieldsOf(DNS_NUMBER_FIELDS, uint32.exactOptional()),
      ...fieldsOf(DNS_TEXT_FIELDS, dnsText.exactOptional()),
    })
    .meta({ title: 'DnsRecord' }),
  MAX_DNS_RECORDS,
);

function fieldsOf<Name extends DnsNumberField | DnsTextField, Schema extends z.ZodType>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> {
  return Object.fromEntries(
    names.map((name) => [name, schema.describe(DNS_FIELD_TEXTS[name])]),
  ) as Record<Name, Schema>;
}

const dnsAnswer = z
  .object({
    Status: z.int().min(0).max(65_535).describe('The response code; 0 is NOERROR.'),
    AA: z
      .boolean()
      .exactOptional()
      .describe('Whether the server is authoritative; omitted in results of older agents.'),
    TC: z.boolean().describe('Whether the answer was cut.'),
    RD: z.boolean().describe('Whether the query asked for recursion.'),
    RA: z.boolean().describe('Whether the server offers recursion.'),
    AD: z.boolean().describe('Whether the server verified the answer by DNSSEC.'),
    CD: z.boolean().describe('Whether the query switched verification by DNSSEC off.'),
    Question: boundedList(z.object({ name: dnsName, type: recordType }), MAX_DNS_RECORDS).describe(
      'What was asked.',
    ),
    Answer: dnsRecords.describe('The records that answer it.'),
    Authority: dnsRecords
      .exactOptional()
      .describe('The records about the zone; omitted in results of older agents.'),
  })
  .meta({ title: 'DnsAnswer' });

/** A field of checks over TLS and HTTPS. */
function encrypted<Schema extends z.ZodType>(schema: Schema) {
  return schema.exactOptional().describe(`${schema.description} Only over DOT and DOH.`);
}

export const dnsDetail = z
  .object({
    request: z
      .object({
        query: host.describe('The name that was looked up.'),
        recordType,
        nameServer: host
          .nullable()
          .describe('The name server of the check; null for that of the agent.'),
        port,
        protocol,
      })
      .describe(SENT),
    response: z
      .object({
        responseCode: text(64).describe('The response code, such as NOERROR or NXDOMAIN.'),
        answer: dnsAnswer.describe('The answer, field by field.'),
        text: text(MAX_DNS_TEXT_CHARS).describe('The answer as dig prints it.'),
        nameServer: z
          .object({ host: host.describe('Its name or address.'), port, protocol })
          .describe('The name server that answered.'),
        serials: boundedList(
          z.object({
            nameServer: host.describe('The name or address of the name server.'),
            serial: uint32
              .nullable()
              .describe('Its SOA serial; null if it did not answer with one.'),
          }),
          16,
        )
          .exactOptional()
          .describe('What each name server has; omitted unless the check has `compareSerials`.'),
      })
      .nullable()
      .describe(RECEIVED),
    ...commonDetail,
    timings: z.object({ end }).describe(TIMINGS),
    timingPhases: z
      .object({
        tcp: encrypted(PHASES.tcp),
        tls: encrypted(PHASES.tls),
        query: encrypted(duration.describe('Milliseconds for the query.')),
        total: PHASES.total,
      })
      .describe(PHASE_TIMES),
    tls: encrypted(tlsFacts.nullable().describe('TLS; null if there was no handshake.')),
  })
  .meta({ title: 'DnsCheckResult' });

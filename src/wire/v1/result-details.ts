import { z } from 'zod';
import { DNS_PROTOCOLS } from '../../model/check/request/dns.ts';
import { TCP_STEP_FORMATS } from '../../model/check/request/tcp.ts';
import { FAMILY_CHOICES, IP_FAMILIES } from '../../model/enums.ts';
import {
  DNS_FIELD_TEXTS,
  DNS_NUMBER_FIELDS,
  DNS_TEXT_FIELDS,
  type DnsNumberField,
  type DnsTextField,
} from '../../model/result/details/dns-answer.ts';
import {
  commonDetail,
  echoedPairs,
  echoedText,
  families,
  host,
  httpTimingPhases,
  httpTimings,
  PHASES,
  responseHeaders,
  tcpFacts,
  tlsFacts,
  UNTIL,
  url,
} from './common-detail.ts';
import { duration, durationOrNull } from './durations.ts';
import { boundedList, count, text } from './fields.ts';

const ipFamily = z.enum(IP_FAMILIES).describe('The address family of the connection.');
const familyChoice = z.enum(FAMILY_CHOICES).describe('The address family of the check.');
const port = z.int().min(0).max(65_535).describe('The port, 1 to 65535.');
const status = z.int().min(0).max(999).describe('The HTTP status.');
const hostname = host.describe('The host of the target.');
const protocol = z.enum(DNS_PROTOCOLS).describe('How the name server is asked.');
const pingCount = z.int().min(1).max(50).describe('How many echo requests the check sends.');
const end = duration.describe('Milliseconds from the start to the end.');

/** Fields of the details of all types. */
const SENT = 'What was sent.';
const RECEIVED = 'What came back; null without a response.';
const TIMINGS = 'When each phase ended.';
const PHASE_TIMES = 'How long each phase took; they add up to the total within 1 ms.';
const OR_IN_RESPONSE = 'Here only without a response, which has them otherwise.';

/** 50 KB as base64; text is cut at 10 KB, which scrubbing may have made four times as long. */
const MAX_BODY_CHARS = 70_000;
/** 64 KiB of data, scrubbed. */
const MAX_TCP_CHARS = 262_144;
/** 256 KiB of names and data, with TTL, class and type of 5,461 records at most. */
const MAX_DNS_TEXT_CHARS = 1_048_576;
const MAX_DNS_RECORDS = 6_000;

const httpResponse = z
  .object({
    status,
    statusText: text(2000).describe('The words after the status; empty over HTTP/2.'),
    httpVersion: z.enum(['1.0', '1.1', '2']).describe('The version of HTTP.'),
    headers: responseHeaders.describe(
      'By names in lower case; repeated ones are joined with a comma, Set-Cookie is a list.',
    ),
    ip: host.describe('The address that answered, after redirects.'),
    ipFamily,
    url: url.describe('The URL that answered, after redirects.'),
    redirects: boundedList(
      z.object({ status, url: url.describe('The URL that redirected.') }),
      20,
    ).describe('The redirects that were followed, in order.'),
    tls: tlsFacts.nullable().describe('TLS of the last connection; null without it.'),
    timings: httpTimings.describe(TIMINGS),
    timingPhases: httpTimingPhases.describe(PHASE_TIMES),
    body: text(MAX_BODY_CHARS)
      .nullable()
      .describe('The body: text up to 10 KB, other content up to 50 KB; null if it is left out.'),
    bodyEncoding: z
      .enum(['text', 'base64', 'omitted'])
      .describe('The form of `body`; `omitted` if it is null.'),
    bodyBytes: count.describe('The bytes that were read, after decoding.'),
    bodyTruncated: z
      .boolean()
      .describe('Whether the body was longer than the 25 MB that are read.'),
    bodyCut: z
      .literal(true)
      .exactOptional()
      .describe('Present if `body` is the beginning of a longer text.'),
  })
  .meta({ title: 'HttpResponse' });

export const httpDetail = z
  .object({
    request: z
      .object({
        method: text(32).describe('The HTTP method.'),
        url: url.describe('The URL with its query parameters, cut at 10 KB.'),
        data: echoedText.describe('The body, cut at 10 KB.'),
        headers: echoedPairs.describe('By name; secrets are masked.'),
        params: echoedPairs.describe(
          'The query parameters of the check by name; secrets are masked.',
        ),
      })
      .describe(SENT),
    response: httpResponse.nullable().describe(RECEIVED),
    ...commonDetail,
    timings: httpTimings.exactOptional().describe(`${TIMINGS} ${OR_IN_RESPONSE}`),
    timingPhases: httpTimingPhases.exactOptional().describe(`${PHASE_TIMES} ${OR_IN_RESPONSE}`),
    tls: tlsFacts
      .nullable()
      .exactOptional()
      .describe(`TLS of the last connection; null without it. ${OR_IN_RESPONSE}`),
    tcp: tcpFacts,
    families,
  })
  .meta({ title: 'HttpCheckResult' });

/** `send` is cut at 1,000 characters, which masks may make longer. */
const tcpStep = z
  .object({
    send: text(8192)
      .nullable()
      .describe('What was sent, cut at 1,000 characters; null for nothing.'),
    expect: text(16_384).nullable().describe('What had to arrive; null for nothing.'),
    format: z
      .enum(TCP_STEP_FORMATS)
      .describe('HEX: `send` and `expect` are bytes as hexadecimal digits.'),
  })
  .meta({ title: 'SentTcpStep' });

export const tcpDetail = z
  .object({
    request: z
      .object({
        hostname,
        port,
        data: text(MAX_TCP_CHARS).nullable().describe('The text that was sent; null for none.'),
        steps: boundedList(tcpStep, 20)
          .exactOptional()
          .describe('The steps of the check; omitted if it has none.'),
        ipFamily: familyChoice,
      })
      .describe(SENT),
    response: z
      .object({
        data: text(MAX_TCP_CHARS).describe('What arrived, at most 64 KiB.'),
        address: host.describe('The address of the connection.'),
        port,
        ipFamily,
      })
      .nullable()
      .describe('What came back; null without a connection.'),
    ...commonDetail,
    timings: z
      .object({
        lookup: UNTIL.lookup,
        connect: UNTIL.connect,
        secureConnect: UNTIL.secureConnect
          .exactOptional()
          .describe(`${UNTIL.secureConnect.description} Omitted without TLS.`),
        response: UNTIL.response,
        end,
      })
      .describe(TIMINGS),
    timingPhases: z
      .object({
        dns: PHASES.dns,
        connection: PHASES.tcp,
        tls: PHASES.tls.exactOptional().describe(`${PHASES.tls.description} Omitted without TLS.`),
        data: duration.describe('Milliseconds for sending and receiving.'),
        total: PHASES.total,
      })
      .describe(PHASE_TIMES),
    tcp: tcpFacts,
    tls: tlsFacts
      .nullable()
      .exactOptional()
      .describe('TLS, also of a handshake that failed; null without it.'),
    families,
  })
  .meta({ title: 'TcpCheckResult' });

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

export const icmpDetail = z
  .object({
    request: z.object({ hostname, pingCount, ipFamily: familyChoice }).describe(SENT),
    response: z
      .object({
        hostname,
        resolvedIp: host.describe('The address that was pinged.'),
        ipFamily,
        pingCount,
        packetsSent: z.int().min(0).max(50).describe('Echo requests that were sent.'),
        packetsReceived: z.int().min(0).max(50).describe('Replies that came.'),
        packetLoss: z.number().min(0).max(100).describe('Requests without a reply, in percent.'),
        dnsResolutionTime: PHASES.dns,
        latency: z
          .object({
            avg: durationOrNull.describe('The average in milliseconds; null without replies.'),
            min: durationOrNull.describe('The shortest in milliseconds; null without replies.'),
            max: durationOrNull.describe('The longest in milliseconds; null without replies.'),
            stdDev: durationOrNull.describe(
              'The standard deviation, of the population, in milliseconds; null without replies.',
            ),
          })
          .describe('The times until the replies.'),
        pingResults: boundedList(
          z.object({
            sequence: z.int().min(0).max(65_535).describe('The sequence number of the request.'),
            success: z.boolean().describe('Whether a reply came in time.'),
            rtt: durationOrNull.describe('Milliseconds until the reply; null without one.'),
            ttl: z
              .int()
              .min(0)
              .max(255)
              .nullable()
              .describe('The hop limit of the reply; null without one, or if it is not known.'),
          }),
          50,
        ).describe('Each echo request, in order.'),
      })
      .nullable()
      .describe(RECEIVED),
    ...commonDetail,
    timings: z
      .object({
        lookup: duration.describe('Milliseconds from the start until the name was looked up.'),
        end,
      })
      .describe(TIMINGS),
    timingPhases: z.object({ dns: PHASES.dns, total: PHASES.total }).describe(PHASE_TIMES),
    families,
  })
  .meta({ title: 'IcmpCheckResult' });

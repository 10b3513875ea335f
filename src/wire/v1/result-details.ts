import { z } from 'zod';
import { DNS_PROTOCOLS } from '../../model/check/request/dns.ts';
import { TCP_STEP_FORMATS } from '../../model/check/request/tcp.ts';
import { FAMILY_CHOICES, IP_FAMILIES } from '../../model/enums.ts';
import { DNS_NUMBER_FIELDS, DNS_TEXT_FIELDS } from '../../model/result/dns-answer.ts';
import {
  commonDetail,
  echoedPairs,
  echoedText,
  families,
  host,
  httpTimingPhases,
  httpTimings,
  responseHeaders,
  tcpFacts,
  tlsFacts,
  url,
} from './common-detail.ts';
import { duration, durationOrNull } from './durations.ts';
import { boundedList, count, text } from './fields.ts';

const ipFamily = z.enum(IP_FAMILIES);
const familyChoice = z.enum(FAMILY_CHOICES);
const port = z.int().min(0).max(65_535);

/** 50 KB as base64; text is cut at 10 KB, which scrubbing may have made four times as long. */
const MAX_BODY_CHARS = 70_000;
/** 64 KiB of data, scrubbed. */
const MAX_TCP_CHARS = 262_144;
/** 256 KiB of names and data, with TTL, class and type of 5,461 records at most. */
const MAX_DNS_TEXT_CHARS = 1_048_576;
const MAX_DNS_RECORDS = 6_000;

const httpResponse = z
  .object({
    status: z.int().min(0).max(999),
    statusText: text(2000),
    httpVersion: z.enum(['1.0', '1.1', '2']),
    headers: responseHeaders,
    ip: host,
    ipFamily,
    url,
    redirects: boundedList(z.object({ status: z.int().min(0).max(999), url }), 20),
    tls: tlsFacts.nullable(),
    timings: httpTimings,
    timingPhases: httpTimingPhases,
    body: text(MAX_BODY_CHARS).nullable(),
    bodyEncoding: z.enum(['text', 'base64', 'omitted']),
    bodyBytes: count,
    bodyTruncated: z.boolean(),
    bodyCut: z.literal(true).exactOptional(),
  })
  .meta({ title: 'HttpResponse' });

export const httpDetail = z
  .object({
    request: z.object({
      method: text(32),
      url,
      data: echoedText,
      headers: echoedPairs,
      params: echoedPairs,
    }),
    response: httpResponse.nullable(),
    ...commonDetail,
    timings: httpTimings.exactOptional(),
    timingPhases: httpTimingPhases.exactOptional(),
    tls: tlsFacts.nullable().exactOptional(),
    tcp: tcpFacts,
    families,
  })
  .meta({ title: 'HttpCheckResult' });

/** `send` is cut at 1,000 characters, which masks may make longer. */
const tcpStep = z
  .object({
    send: text(8192).nullable(),
    expect: text(16_384).nullable(),
    format: z.enum(TCP_STEP_FORMATS),
  })
  .meta({ title: 'SentTcpStep' });

export const tcpDetail = z
  .object({
    request: z.object({
      hostname: host,
      port,
      data: text(MAX_TCP_CHARS).nullable(),
      steps: boundedList(tcpStep, 20).exactOptional(),
      ipFamily: familyChoice,
    }),
    response: z.object({ data: text(MAX_TCP_CHARS), address: host, port, ipFamily }).nullable(),
    ...commonDetail,
    timings: z.object({
      lookup: durationOrNull,
      connect: durationOrNull,
      secureConnect: durationOrNull.exactOptional(),
      response: durationOrNull,
      end: duration,
    }),
    timingPhases: z.object({
      dns: duration,
      connection: duration,
      tls: duration.exactOptional(),
      data: duration,
      total: duration,
    }),
    tcp: tcpFacts,
    tls: tlsFacts.nullable().exactOptional(),
    families,
  })
  .meta({ title: 'TcpCheckResult' });

const uint32 = z.int().min(0).max(0xffff_ffff);
const dnsText = text(524_288);

const dnsRecords = boundedList(
  z
    .object({
      name: text(8192),
      type: text(64),
      TTL: uint32,
      data: dnsText,
      ...fieldsOf(DNS_NUMBER_FIELDS, uint32.exactOptional()),
      ...fieldsOf(DNS_TEXT_FIELDS, dnsText.exactOptional()),
    })
    .meta({ title: 'DnsRecord' }),
  MAX_DNS_RECORDS,
);

function fieldsOf<Name extends string, Schema>(
  names: readonly Name[],
  schema: Schema,
): Record<Name, Schema> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

const dnsAnswer = z
  .object({
    Status: z.int().min(0).max(65_535),
    AA: z.boolean().exactOptional(),
    TC: z.boolean(),
    RD: z.boolean(),
    RA: z.boolean(),
    AD: z.boolean(),
    CD: z.boolean(),
    Question: boundedList(z.object({ name: text(8192), type: text(64) }), MAX_DNS_RECORDS),
    Answer: dnsRecords,
    Authority: dnsRecords.exactOptional(),
  })
  .meta({ title: 'DnsAnswer' });

export const dnsDetail = z
  .object({
    request: z.object({
      query: host,
      recordType: text(64),
      nameServer: host.nullable(),
      port,
      protocol: z.enum(DNS_PROTOCOLS),
    }),
    response: z
      .object({
        responseCode: text(64),
        answer: dnsAnswer,
        text: text(MAX_DNS_TEXT_CHARS),
        nameServer: z.object({ host, port, protocol: z.enum(DNS_PROTOCOLS) }),
        serials: boundedList(
          z.object({ nameServer: host, serial: uint32.nullable() }),
          16,
        ).exactOptional(),
      })
      .nullable(),
    ...commonDetail,
    timings: z.object({ end: duration }),
    timingPhases: z.object({
      tcp: duration.exactOptional(),
      tls: duration.exactOptional(),
      query: duration.exactOptional(),
      total: duration,
    }),
    tls: tlsFacts.nullable().exactOptional(),
  })
  .meta({ title: 'DnsCheckResult' });

export const icmpDetail = z
  .object({
    request: z.object({
      hostname: host,
      pingCount: z.int().min(1).max(50),
      ipFamily: familyChoice,
    }),
    response: z
      .object({
        hostname: host,
        resolvedIp: host,
        ipFamily,
        pingCount: z.int().min(1).max(50),
        packetsSent: z.int().min(0).max(50),
        packetsReceived: z.int().min(0).max(50),
        packetLoss: z.number().min(0).max(100),
        dnsResolutionTime: duration,
        latency: z.object({
          avg: durationOrNull,
          min: durationOrNull,
          max: durationOrNull,
          stdDev: durationOrNull,
        }),
        pingResults: boundedList(
          z.object({
            sequence: z.int().min(0).max(65_535),
            success: z.boolean(),
            rtt: durationOrNull,
            ttl: z.int().min(0).max(255).nullable(),
          }),
          50,
        ),
      })
      .nullable(),
    ...commonDetail,
    timings: z.object({ lookup: duration, end: duration }),
    timingPhases: z.object({ dns: duration, total: duration }),
    families,
  })
  .meta({ title: 'IcmpCheckResult' });

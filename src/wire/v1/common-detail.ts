import { z } from 'zod';
import {
  ASSERTION_SOURCES,
  type AssertionSource,
  COMPARISONS,
} from '../../model/check/assertion.ts';
import { IP_FAMILIES } from '../../model/enums.ts';
import type { ErrorCode } from '../../model/result/error-codes.ts';
import { FAMILY_OUTCOMES } from '../../model/result/result.ts';
import { MAX_HOPS } from '../../model/result/traceroute.ts';
import { duration, durationOrNull } from './durations.ts';
import { boundedList, count, instant, openCode, recordOf, text } from './fields.ts';

/**
 * Parts of the details that several check types have. Bounds are those of the agent, doubled where
 * a masked secret can make a text longer than it was cut to.
 */

const SOURCES = [...new Set(Object.values(ASSERTION_SOURCES).flat())] as [
  AssertionSource,
  ...AssertionSource[],
];

/** 10 KB, where each two characters may have become a mask of eight. */
const SHOWN = 40_960;
/** A Location header of 64 KiB, percent-encoded. */
export const url = text(262_144);
/** Names of hosts and addresses, with room for a scope. */
export const host = text(1024);

export const assertionResult = z
  .object({
    source: z.enum(SOURCES),
    property: text(4096),
    comparison: z.enum(COMPARISONS),
    target: text(40_960),
    regex: text(4096).nullable(),
    actual: text(SHOWN).nullable(),
    error: text(SHOWN).nullable(),
  })
  .meta({ title: 'AssertionResult' });

const logEntry = z
  .object({
    time: instant,
    level: z.enum(['info', 'warn', 'error']),
    msg: text(8192),
  })
  .meta({ title: 'JobLogEntry' });

const probes = z.int().min(0).max(1_000);

const hop = z
  .object({
    hop: z.int().min(1).max(MAX_HOPS),
    address: host.nullable(),
    host: host.nullable(),
    sent: probes,
    received: probes,
    lossPercent: z.number().min(0).max(100),
    lastMs: durationOrNull,
    avgMs: durationOrNull,
    bestMs: durationOrNull,
    worstMs: durationOrNull,
    stdDevMs: durationOrNull,
  })
  .meta({ title: 'TracerouteHop' });

const traceroute = z
  .object({
    hostname: host,
    resolvedIp: host,
    hops: boundedList(hop, MAX_HOPS),
    destinationReached: z.boolean(),
    truncationReason: text(1024).nullable(),
  })
  .meta({ title: 'Traceroute' });

/** The fields of CheckDetail, without the request and the response. */
export const commonDetail = {
  assertions: boundedList(assertionResult, 50),
  requestError: text(8192).nullable(),
  /** Also codes that only a newer agent knows: no result is lost for one. */
  requestErrorCode: openCode.nullable(),
  jobLog: boundedList(logEntry, 256),
  jobAssets: boundedList(text(2048), 64),
  pcapDataUrl: text(2048).nullable(),
  /** Left out where a newer agent sends another form, like any unknown field. */
  traceroute: traceroute.nullable().catch(null),
  timing: z.object({ uncertaintyMs: duration, clock: text(32) }).exactOptional(),
};

/** How each address family of the target did, of checks that may use both. */
export const families = boundedList(
  z
    .object({
      ipFamily: z.enum(IP_FAMILIES),
      address: host.nullable(),
      outcome: z.enum(FAMILY_OUTCOMES),
      responseTime: durationOrNull,
      requestErrorCode: openCode.nullable(),
      requestError: text(8192).nullable(),
    })
    .meta({ title: 'FamilyOutcome' }),
  IP_FAMILIES.length,
).exactOptional();

/** The model's result, but with codes that are newer than this build. */
export type Received<T> = T extends ErrorCode
  ? string
  : T extends object
    ? { [Key in keyof T]: Received<T[Key]> }
    : T;

/** Set-Cookie is a list, all others are text. */
export const responseHeaders = recordOf(
  65_536,
  z.union([text(131_072), boundedList(text(131_072), 16_384)]),
  16_384,
  { fits: isTextOrTexts, kind: 'text or a list of texts' },
);

function isTextOrTexts(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return typeof value === 'string';
}

/** Check headers (100), the agent's own, and query parameters; values are cut at 10 KB. */
export const echoedPairs = recordOf(4096, text(SHOWN), 256);
export const echoedText = text(SHOWN);

const certificateFacts = z
  .object({
    subject: text(2048),
    issuer: text(2048),
    subjectAltNames: boundedList(text(2048), 101),
    /** ISO 8601, unless the certificate's dates are invalid. */
    validFrom: text(2048),
    validTo: text(2048),
    daysRemaining: z.int().min(-10_000_000).max(10_000_000),
    serialNumber: text(2048),
    fingerprint256: text(200),
    keyType: text(64).exactOptional(),
    keyBits: count.nullable().exactOptional(),
  })
  .meta({ title: 'Certificate' });

export const tlsFacts = z
  .object({
    protocol: text(64).nullable(),
    cipher: text(128).nullable(),
    alpnProtocol: text(256).nullable(),
    authorized: z.boolean(),
    certificate: certificateFacts.nullable(),
  })
  .meta({ title: 'TlsDetails' });

/** Left out where a newer agent sends another form. */
export const tcpFacts = z
  .object({
    peer: z.enum(['target', 'proxy']),
    rttMs: duration,
    minRttMs: durationOrNull,
    retransmits: count,
    mss: count,
  })
  .meta({ title: 'TcpDetails' })
  .nullable()
  .catch(null)
  .exactOptional();

export const httpTimings = z
  .object({
    socket: durationOrNull,
    lookup: durationOrNull,
    connect: durationOrNull,
    secureConnect: durationOrNull,
    response: durationOrNull,
    end: durationOrNull,
  })
  .meta({ title: 'HttpTimings' });

export const httpTimingPhases = z
  .object({
    wait: duration,
    dns: duration,
    tcp: duration,
    tls: duration,
    firstByte: duration,
    download: duration,
    total: duration,
  })
  .meta({ title: 'HttpTimingPhases' });

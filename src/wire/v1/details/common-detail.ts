import { z } from 'zod';
import {
  ASSERTION_FIELDS,
  ASSERTION_SOURCES,
  type AssertionSource,
  COMPARISONS,
} from '../../../model/check/assertions/assertion.ts';
import { FAMILY_CHOICES, IP_FAMILIES } from '../../../model/enums.ts';
import { FAMILY_OUTCOMES } from '../../../model/result/details/check-detail.ts';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import { MAX_HOPS } from '../../../model/result/traceroute.ts';
import { duration, durationOrNull } from '../durations.ts';
import { boundedList, count, instant, openCode, text } from '../fields.ts';

/**
 * Parts of the details that several check types have. Bounds are those of the agent, doubled where
 * a masked secret can make a text longer than it was cut to.
 */

const SOURCES = [...new Set(Object.values(ASSERTION_SOURCES).flat())] as [
  AssertionSource,
  ...AssertionSource[],
];

/** 10 KB, where each two characters may have become a mask of eight. */
export const MAX_SHOWN_CHARS = 40_960;
/** A Location header of 64 KiB, percent-encoded. */
export const url = text(262_144);
/** Names of hosts and addresses, with room for a scope. */
export const host = text(1024);

export const ipFamily = z.enum(IP_FAMILIES).describe('The address family of the connection.');
export const familyChoice = z.enum(FAMILY_CHOICES).describe('The address family of the check.');
export const port = z.int().min(0).max(65_535).describe('The port, 1 to 65535.');
export const hostname = host.describe('The host of the target.');
export const end = duration.describe('Milliseconds from the start to the end.');

/** Descriptions of fields that the details of all types have. */
export const SENT = 'What was sent.';
export const RECEIVED = 'What came back; null without a response.';
export const TIMINGS = 'When each phase ended.';
export const PHASE_TIMES = 'How long each phase took; they add up to the total within 1 ms.';

export const assertionResult = z
  .object({
    source: z.enum(SOURCES).describe(ASSERTION_FIELDS.source),
    property: text(4096).describe(ASSERTION_FIELDS.property),
    comparison: z.enum(COMPARISONS).describe(ASSERTION_FIELDS.comparison),
    target: text(40_960).describe(ASSERTION_FIELDS.target),
    regex: text(4096).nullable().describe(ASSERTION_FIELDS.regex),
    actual: text(MAX_SHOWN_CHARS)
      .nullable()
      .describe('The value that was compared, cut at 10 KB; null if there was none.'),
    error: text(MAX_SHOWN_CHARS)
      .nullable()
      .describe('Why the assertion failed; null if it passed.'),
  })
  .meta({ title: 'AssertionResult' });

const logEntry = z
  .object({
    time: instant.describe('Milliseconds since 1970.'),
    level: z.enum(['info', 'warn', 'error']).describe('How serious it is.'),
    msg: text(8192).describe('What happened.'),
  })
  .meta({ title: 'JobLogEntry' });

const probes = z.int().min(0).max(1_000);

const hop = z
  .object({
    hop: z.int().min(1).max(MAX_HOPS).describe('The number of the hop: 1 for the first router.'),
    address: host.nullable().describe('The address that replied; null if none did.'),
    host: host
      .nullable()
      .describe('The name of the address; null if it has none, or none was found in time.'),
    sent: probes.describe('The packets that were sent.'),
    received: probes.describe('The replies that came.'),
    lossPercent: z.number().min(0).max(100).describe('The packets without a reply, in percent.'),
    lastMs: durationOrNull.describe('Milliseconds until the last reply; null without replies.'),
    avgMs: durationOrNull.describe('Their average in milliseconds; null without replies.'),
    bestMs: durationOrNull.describe('The shortest in milliseconds; null without replies.'),
    worstMs: durationOrNull.describe('The longest in milliseconds; null without replies.'),
    stdDevMs: durationOrNull.describe(
      'Their standard deviation, of the population, in milliseconds; null without replies.',
    ),
  })
  .meta({ title: 'TracerouteHop' });

const traceroute = z
  .object({
    hostname: host.describe('The host of the target.'),
    resolvedIp: host.describe('The address of the target.'),
    hops: boundedList(hop, MAX_HOPS).describe('The hops of the route, as far as it was found.'),
    destinationReached: z.boolean().describe('Whether the route reaches the target.'),
    truncationReason: text(1024)
      .nullable()
      .describe('Why it ends before the target; null if it does not.'),
  })
  .meta({ title: 'Traceroute' });

/** The fields of CheckDetail, without the request and the response. */
export const commonDetail = {
  assertions: boundedList(assertionResult, 50).describe('Each assertion with its outcome.'),
  requestError: text(8192)
    .nullable()
    .describe('What went wrong, in one sentence; null without an error.'),
  /** Also codes that only a newer agent knows: no result is lost for one. */
  requestErrorCode: openCode
    .nullable()
    .describe('One of the error codes, or a code of a newer agent; null without an error.'),
  jobLog: boundedList(logEntry, 256).describe('What happened, line by line.'),
  jobAssets: boundedList(text(2048), 64).describe('The URLs of the artifacts.'),
  pcapDataUrl: text(2048)
    .nullable()
    .describe('The URL of the packet capture; null or omitted if there is none.'),
  /** Left out where a newer agent sends another form, like any unknown field. */
  traceroute: traceroute
    .nullable()
    .catch(null)
    .describe('The route to the target, recorded after a failure; null if it was not.'),
  timing: z
    .object({
      uncertaintyMs: duration.describe('By how many milliseconds the times may be too long.'),
      clock: text(32).describe('What measured them: `kernel`, `event-loop` or `mixed`.'),
    })
    .exactOptional()
    .describe('How exact the times are; omitted in results of older agents.'),
};

/** The outcome for each address family of the target, for checks that may use both. */
export const families = boundedList(
  z
    .object({
      ipFamily: z.enum(IP_FAMILIES).describe('The address family.'),
      address: host.nullable().describe('The address that was tried; null if none was.'),
      outcome: z
        .enum(FAMILY_OUTCOMES)
        .describe('`unanswered`: the other family was connected first, which ended it.'),
      responseTime: durationOrNull.describe('Milliseconds; null with `ipFamily` ANY.'),
      requestErrorCode: commonDetail.requestErrorCode,
      requestError: commonDetail.requestError,
    })
    .meta({ title: 'FamilyOutcome' }),
  IP_FAMILIES.length,
)
  .exactOptional()
  .describe('How each address family did; omitted unless the check has `ipFamily` ANY or BOTH.');

/** The model's result, but with codes that are newer than this build. */
export type Received<T> = T extends ErrorCode
  ? string
  : T extends object
    ? { [Key in keyof T]: Received<T[Key]> }
    : T;

export const certificateFacts = z
  .object({
    subject: text(2048).describe('The name that it was issued to, as `CN=example.com, O=Example`.'),
    issuer: text(2048).describe('Who issued it, as `CN=Example CA, O=Example`.'),
    subjectAltNames: boundedList(text(2048), 101).describe('The names that it is valid for.'),
    /** ISO 8601, unless the certificate's dates are invalid. */
    validFrom: text(2048).describe('From when on it is valid, as `2026-01-31T12:00:00.000Z`.'),
    validTo: text(2048).describe('Until when it is valid, as `2026-01-31T12:00:00.000Z`.'),
    daysRemaining: z
      .int()
      .min(-10_000_000)
      .max(10_000_000)
      .describe('Whole days from the run until it expires; negative once it has expired.'),
    serialNumber: text(2048).describe('Hexadecimal digits.'),
    fingerprint256: text(200).describe(
      'The SHA-256 fingerprint: hexadecimal digits with colons between bytes.',
    ),
    keyType: text(64)
      .exactOptional()
      .describe('RSA, EC, ED25519, …; omitted in results of older agents.'),
    keyBits: count
      .nullable()
      .exactOptional()
      .describe('The size of the key; null if its type has none, omitted like `keyType`.'),
  })
  .meta({ title: 'Certificate' });

export const tlsFacts = z
  .object({
    protocol: text(64)
      .nullable()
      .describe('TLSv1.2 or TLSv1.3; null if no handshake got that far.'),
    cipher: text(128)
      .nullable()
      .describe("OpenSSL's name of the cipher; null if no handshake got that far."),
    alpnProtocol: text(256)
      .nullable()
      .describe('The application protocol that was agreed on; null for none.'),
    authorized: z
      .boolean()
      .describe('Whether the certificate is valid for the host and leads to a trusted root.'),
    certificate: certificateFacts
      .nullable()
      .describe('The certificate of the server; null if it sent none.'),
  })
  .meta({ title: 'TlsDetails' });

/** Left out where a newer agent sends another form. */
export const tcpFacts = z
  .object({
    peer: z.enum(['target', 'proxy']).describe('The other end of the connection.'),
    rttMs: duration.describe('The smoothed round-trip time in milliseconds.'),
    minRttMs: durationOrNull.describe(
      'The shortest round-trip time in milliseconds; null if it is not known.',
    ),
    retransmits: count.describe('The segments that the agent sent again, the SYN included.'),
    mss: count.describe('The most bytes of data in a segment to the peer.'),
  })
  .meta({ title: 'TcpDetails' })
  .nullable()
  .catch(null)
  .exactOptional()
  .describe(
    'The last connection at its end, by the kernel of the agent; null without one, omitted in results of older agents.',
  );

/** A cumulative time; null if the phase was not reached. */
export const until = (what: string) =>
  durationOrNull.describe(`Milliseconds from the start until ${what}; null if it did not happen.`);

/** Times of more than one type. */
export const UNTIL = {
  lookup: until('the name was looked up'),
  connect: until('the connection was established'),
  secureConnect: until('the TLS handshake was complete'),
  response: until('the first byte of the response'),
};

/** Phases of more than one type, which add up to the total within 1 ms. */
export const PHASES = {
  dns: duration.describe('Milliseconds for the look-up of the name.'),
  tcp: duration.describe('Milliseconds for the TCP connection.'),
  tls: duration.describe('Milliseconds for TLS, including an upgrade to it.'),
  total: duration.describe('Milliseconds for the whole attempt.'),
};

import { z } from 'zod';
import { duration } from '../durations.ts';
import { boundedList, count, recordOf, text } from '../fields.ts';
import {
  commonDetail,
  families,
  host,
  ipFamily,
  MAX_SHOWN_CHARS,
  PHASE_TIMES,
  PHASES,
  RECEIVED,
  SENT,
  TIMINGS,
  tcpFacts,
  tlsFacts,
  UNTIL,
  until,
  url,
} from './common-detail.ts';

const status = z.int().min(0).max(999).describe('The HTTP status.');
const OR_IN_RESPONSE = 'Only without a response; otherwise in `response`.';
/** 50 KB as base64; text is cut at 10 KB, which scrubbing may have made four times as long. */
const MAX_BODY_CHARS = 70_000;

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
const echoedPairs = recordOf(4096, text(MAX_SHOWN_CHARS), 256);
const echoedText = text(MAX_SHOWN_CHARS);

const httpTimings = z
  .object({
    socket: until('the last request began'),
    lookup: UNTIL.lookup,
    connect: UNTIL.connect,
    secureConnect: UNTIL.secureConnect,
    response: UNTIL.response,
    end: until('the response was complete'),
  })
  .meta({ title: 'HttpTimings' });

const httpTimingPhases = z
  .object({
    wait: duration.describe('Milliseconds that belong to no other phase.'),
    dns: PHASES.dns,
    tcp: PHASES.tcp,
    tls: PHASES.tls,
    firstByte: duration.describe(
      'Milliseconds from sending the request to the first byte of the response.',
    ),
    download: duration.describe('Milliseconds from the first to the last byte of the response.'),
    total: PHASES.total,
  })
  .meta({ title: 'HttpTimingPhases' });

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

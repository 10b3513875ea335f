import fc from 'fast-check';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../../src/model/enums.ts';
import { resultIdOf } from '../../../../src/model/ids.ts';
import type { CheckDetail, TlsFacts } from '../../../../src/model/result/details/check-detail.ts';
import type { HttpTimings } from '../../../../src/model/result/details/http-detail.ts';
import { ERROR_CODES, type ErrorCode } from '../../../../src/model/result/error-codes.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';

/** Values that the agent can derive from responses of targets, within its limits. */

const textOf = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: 'grapheme', maxLength });
const ms = fc.integer({ min: 0, max: 60_000_000 }).map((us) => us / 1000);
const msOrNull = fc.option(ms);
const name = textOf(30);
const ipFamily = fc.constantFrom('IPv4' as const, 'IPv6' as const);
const port = fc.integer({ min: 1, max: 65_535 });
const pairs = fc.dictionary(name, textOf(50), { maxKeys: 5 });
const instant = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });

const tls: fc.Arbitrary<TlsFacts> = fc.record({
  protocol: fc.option(name),
  cipher: fc.option(name),
  alpnProtocol: fc.option(name),
  authorized: fc.boolean(),
  certificate: fc.option(
    fc.record({
      subject: name,
      issuer: name,
      subjectAltNames: fc.array(name, { maxLength: 101 }),
      validFrom: name,
      validTo: name,
      daysRemaining: fc.integer({ min: -100_000, max: 100_000 }),
      serialNumber: name,
      fingerprint256: name,
      keyType: name,
      keyBits: fc.option(fc.nat(), { nil: null }),
    }),
  ),
});

const timings: fc.Arbitrary<HttpTimings> = fc.record({
  socket: msOrNull,
  lookup: msOrNull,
  connect: msOrNull,
  secureConnect: msOrNull,
  response: msOrNull,
  end: msOrNull,
});
const timingPhases = fc.record({
  wait: ms,
  dns: ms,
  tcp: ms,
  tls: ms,
  firstByte: ms,
  download: ms,
  total: ms,
});

const tcpFacts = fc.record({
  peer: fc.constantFrom('target' as const, 'proxy' as const),
  rttMs: ms,
  minRttMs: msOrNull,
  retransmits: fc.nat(),
  mss: fc.nat({ max: 65_535 }),
});
/** An older agent does not send it. */
const tcpField = fc.oneof(fc.constant({}), fc.record({ tcp: fc.option(tcpFacts) }));

const traceroute = fc.record({
  hostname: name,
  resolvedIp: name,
  hops: fc.array(
    fc.record({
      hop: fc.integer({ min: 1, max: 64 }),
      address: fc.option(name),
      host: fc.option(name),
      sent: fc.integer({ min: 0, max: 1000 }),
      received: fc.integer({ min: 0, max: 1000 }),
      lossPercent: fc.integer({ min: 0, max: 10_000 }).map((share) => share / 100),
      lastMs: msOrNull,
      avgMs: msOrNull,
      bestMs: msOrNull,
      worstMs: msOrNull,
      stdDevMs: msOrNull,
    }),
    { maxLength: 64 },
  ),
  destinationReached: fc.boolean(),
  truncationReason: fc.option(name),
});

const common: fc.Arbitrary<Omit<CheckDetail<never, never>, 'request' | 'response'>> = fc.record({
  assertions: fc.array(
    fc.record({
      source: fc.constantFrom('STATUS_CODE' as const, 'JSON_BODY' as const, 'LATENCY' as const),
      property: name,
      comparison: fc.constantFrom('EQUALS' as const, 'IS_NULL' as const),
      target: name,
      regex: fc.option(name),
      actual: fc.option(textOf(2000)),
      error: fc.option(textOf(500)),
    }),
    { maxLength: 4 },
  ),
  requestError: fc.option(textOf(300)),
  requestErrorCode: fc.option(fc.constantFrom(...(Object.keys(ERROR_CODES) as ErrorCode[]))),
  jobLog: fc.array(
    fc.record({
      time: instant,
      level: fc.constantFrom('info' as const, 'warn' as const, 'error' as const),
      msg: textOf(200),
    }),
    { maxLength: 10 },
  ),
  jobAssets: fc.array(name, { maxLength: 3 }),
  pcapDataUrl: fc.option(name),
  traceroute: fc.option(traceroute),
});

const stored = fc.oneof(
  fc.record({
    body: textOf(2000),
    bodyEncoding: fc.constant('text' as const),
    bodyBytes: fc.nat(),
    bodyTruncated: fc.boolean(),
  }),
  fc.record({
    body: textOf(2000),
    bodyEncoding: fc.constant('text' as const),
    bodyBytes: fc.nat(),
    bodyTruncated: fc.boolean(),
    bodyCut: fc.constant(true as const),
  }),
  fc.record({
    body: fc.constant('A'.repeat(68_268)),
    bodyEncoding: fc.constant('base64' as const),
    bodyBytes: fc.constant(51_200),
    bodyTruncated: fc.constant(false),
  }),
  fc.record({
    body: fc.constant(null),
    bodyEncoding: fc.constant('omitted' as const),
    bodyBytes: fc.nat(),
    bodyTruncated: fc.boolean(),
  }),
);

const http = fc
  .record({
    common,
    request: fc.record({ method: name, url: name, data: name, headers: pairs, params: pairs }),
    response: fc.option(
      fc
        .record({
          status: fc.integer({ min: 100, max: 999 }),
          statusText: name,
          httpVersion: fc.constantFrom('1.0' as const, '1.1' as const, '2' as const),
          headers: fc.dictionary(name, fc.oneof(name, fc.array(name, { maxLength: 3 }))),
          ip: name,
          ipFamily,
          url: name,
          redirects: fc.array(fc.record({ status: fc.constant(302), url: name }), {
            maxLength: 10,
          }),
          tls: fc.option(tls),
          timings,
          timingPhases,
        })
        .chain((head) => stored.map((body) => ({ ...head, ...body }))),
    ),
    beside: fc.record({ timings, timingPhases, tls: fc.option(tls) }),
    facts: tcpField,
  })
  .map(({ common: shared, request, response, beside, facts }) =>
    response === null
      ? { request, response, ...shared, ...facts, ...beside }
      : { request, response, ...shared, ...facts },
  );

const tcp = fc
  .record({
    common,
    request: fc.record({ hostname: name, port, data: fc.option(name), ipFamily }),
    response: fc.option(fc.record({ data: textOf(2000), address: name, port, ipFamily })),
    timings: fc.record({ lookup: msOrNull, connect: msOrNull, response: msOrNull, end: ms }),
    timingPhases: fc.record({ dns: ms, connection: ms, data: ms, total: ms }),
    facts: tcpField,
  })
  .map(({ common: shared, facts, ...own }) => ({ ...own, ...shared, ...facts }));

const protocol = fc.constantFrom('UDP' as const, 'TCP' as const);
const dns = fc
  .record({
    common,
    request: fc.record({
      query: name,
      recordType: name,
      nameServer: fc.option(name),
      port,
      protocol,
    }),
    response: fc.option(
      fc.record({
        responseCode: name,
        answer: fc.record({
          Status: fc.integer({ min: 0, max: 4095 }),
          TC: fc.boolean(),
          RD: fc.boolean(),
          RA: fc.boolean(),
          AD: fc.boolean(),
          CD: fc.boolean(),
          Question: fc.array(fc.record({ name, type: name }), { maxLength: 2 }),
          Answer: fc.array(
            fc.record({
              name,
              type: name,
              TTL: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
              data: name,
            }),
          ),
        }),
        text: textOf(2000),
        nameServer: fc.record({ host: name, port, protocol }),
      }),
    ),
    timings: fc.record({ end: ms }),
    timingPhases: fc.record({ total: ms }),
  })
  .map(({ common: shared, ...own }) => ({ ...own, ...shared }));

const pings = fc.integer({ min: 1, max: 50 });
const icmp = fc
  .record({
    common,
    request: fc.record({ hostname: name, pingCount: pings, ipFamily }),
    response: fc.option(
      fc.record({
        hostname: name,
        resolvedIp: name,
        ipFamily,
        pingCount: pings,
        packetsSent: pings,
        packetsReceived: pings,
        packetLoss: fc.integer({ min: 0, max: 10_000 }).map((share) => share / 100),
        dnsResolutionTime: ms,
        latency: fc.record({ avg: msOrNull, min: msOrNull, max: msOrNull, stdDev: msOrNull }),
        pingResults: fc.array(
          fc.record({
            sequence: fc.integer({ min: 0, max: 65_535 }),
            success: fc.boolean(),
            rtt: msOrNull,
            ttl: fc.option(fc.integer({ min: 0, max: 255 })),
          }),
          { maxLength: 50 },
        ),
      }),
    ),
    timings: fc.record({ lookup: ms, end: ms }),
    timingPhases: fc.record({ dns: ms, total: ms }),
  })
  .map(({ common: shared, ...own }) => ({ ...own, ...shared }));

type Details = Pick<
  CheckResult,
  'apiCheckResult' | 'tcpCheckResult' | 'dnsCheckResult' | 'icmpCheckResult'
>;
const NO_DETAILS: Details = {
  apiCheckResult: null,
  tcpCheckResult: null,
  dnsCheckResult: null,
  icmpCheckResult: null,
};

function detailsOf(type: RunnableCheckType): fc.Arbitrary<Details> {
  switch (type) {
    case 'URL':
    case 'API':
      return http.map((apiCheckResult) => ({ ...NO_DETAILS, apiCheckResult }));
    case 'TCP':
      return tcp.map((tcpCheckResult) => ({ ...NO_DETAILS, tcpCheckResult }));
    case 'DNS':
      return dns.map((dnsCheckResult) => ({ ...NO_DETAILS, dnsCheckResult }));
    case 'ICMP':
      return icmp.map((icmpCheckResult) => ({ ...NO_DETAILS, icmpCheckResult }));
  }
}

const head = fc.record({
  resultType: fc.constantFrom('FINAL' as const, 'ATTEMPT' as const),
  name: textOf(255),
  checkId: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/),
  hasFailures: fc.boolean(),
  hasErrors: fc.boolean(),
  isDegraded: fc.boolean(),
  overMaxResponseTime: fc.boolean(),
  runLocation: fc.string({ minLength: 1, maxLength: 63 }),
  startedAtMs: instant,
  durationMs: ms,
  responseTime: ms,
  checkRunId: instant,
  attempts: fc.integer({ min: 0, max: 10 }),
  sequenceId: fc.uuid(),
});

/** A result of a run by an agent of this release. */
export const RESULT: fc.Arbitrary<CheckResult> = fc
  .constantFrom(...RUNNABLE_CHECK_TYPES)
  .chain((checkType) =>
    fc.tuple(head, detailsOf(checkType)).map(([{ startedAtMs, durationMs, ...rest }, details]) => {
      const stoppedAt = new Date(startedAtMs + durationMs).toISOString();
      return {
        ...rest,
        ...details,
        checkType,
        id: resultIdOf(rest.sequenceId, rest.attempts + 1),
        isCancelled: false,
        startedAt: new Date(startedAtMs).toISOString(),
        stoppedAt,
        created_at: stoppedAt,
        browserCheckResult: null,
        multiStepCheckResult: null,
        agenticCheckResult: null,
        errorGroupIds: [],
      };
    }),
  );

export function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

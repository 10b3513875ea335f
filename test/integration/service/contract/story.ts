import type { CheckResult } from '../../../../src/model/result/result.ts';
import { ASSERTION, HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { type Run, resultOfRun } from '../../../support/service/results-fixture.ts';

const MINUTE_MS = 60_000;

const NO_ANSWER = {
  hasFailures: true,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: null,
    requestError: 'shop.test:443 (192.0.2.1) refused the connection',
    requestErrorCode: 'CONNECT_REFUSED',
    timings: HTTP_RESPONSE.timings,
    timingPhases: HTTP_RESPONSE.timingPhases,
  },
} as const satisfies Partial<Run>;

const REFUSED_STATUS = {
  hasFailures: true,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: { ...HTTP_RESPONSE, status: 503 },
    assertions: [ASSERTION],
  },
} as const satisfies Partial<Run>;

/** Minutes ago. More than a page has by default. */
const MANY = Array.from({ length: 12 }, (_, index) => 12 - index);

/** Every other minute fails, so that each run has its alert. */
function turnOf(minutes: number): Partial<Run> {
  return minutes % 2 === 0 ? REFUSED_STATUS : {};
}

const DEGRADED = { isDegraded: true, responseTime: 3500 } as const;

/** Pings of which some were lost. */
function pinged(packetsReceived: number): Partial<Run> {
  return {
    checkId: 'ping',
    checkType: 'ICMP',
    hasFailures: packetsReceived < 10,
    apiCheckResult: null,
    icmpCheckResult: {
      request: { hostname: 'shop.test', pingCount: 10, ipFamily: 'IPv4' },
      response: {
        hostname: 'shop.test',
        resolvedIp: '192.0.2.1',
        ipFamily: 'IPv4',
        pingCount: 10,
        packetsSent: 10,
        packetsReceived,
        packetLoss: 100 - packetsReceived * 10,
        dnsResolutionTime: 1,
        latency: { avg: 2, min: 1, max: 3, stdDev: 0.5 },
        pingResults: [],
      },
      assertions: [],
      requestError: null,
      requestErrorCode: null,
      timings: { lookup: 0, end: 9 },
      timingPhases: { dns: 0, total: 9 },
      jobLog: [],
      jobAssets: [],
      pcapDataUrl: null,
      traceroute: null,
    },
  };
}

/** The results of an agent: `old` failed once, the others are recent. */
export function storyOf(
  oldMs: number,
  nowMs: number,
): { readonly old: readonly CheckResult[]; readonly recent: readonly CheckResult[] } {
  const ago = (minutes: number, fields: Partial<Run> = {}): CheckResult =>
    resultOfRun({ slot: nowMs - minutes * MINUTE_MS, ...fields });
  const api = { checkId: 'api-check', checkType: 'API' } as const;
  return {
    old: [resultOfRun({ ...REFUSED_STATUS, slot: oldMs - MINUTE_MS, checkId: 'old' })],
    recent: [
      ago(50),
      ago(45, REFUSED_STATUS),
      ago(40),
      ago(35, DEGRADED),
      ago(30),
      ago(25, { ...NO_ANSWER, resultType: 'ATTEMPT' }),
      ago(25, { attempts: 1 }),
      ago(20, NO_ANSWER),
      ago(15),
      ago(20, { ...api, ...REFUSED_STATUS }),
      ago(15, api),
      ...MANY.map((minutes) => ago(minutes, { checkId: 'many', ...turnOf(minutes) })),
      ago(20, pinged(5)),
      ago(15, pinged(10)),
    ],
  };
}

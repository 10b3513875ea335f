import { gzipSync } from 'node:zlib';
import { resultIdOf, sequenceIdOf } from '../../../src/model/ids.ts';
import type { HttpDetail } from '../../../src/model/result/details/http-detail.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';

/** One upload of an agent, as sent. */
export interface Upload {
  readonly body: Buffer;
  readonly results: number;
  /** Size of the JSON. */
  readonly bytes: number;
}

/** Results of the checks' slots in order, as one agent that runs all the checks uploads them. */
export function* uploadsOf(options: {
  readonly agentId: string;
  readonly location: string;
  readonly checkIds: readonly string[];
  readonly firstSlotMs: number;
  readonly periodMs: number;
  readonly results: number;
  readonly batch: number;
}): Generator<Upload> {
  const { agentId, location, checkIds, firstSlotMs, periodMs } = options;
  for (let from = 0; from < options.results; from += options.batch) {
    const count = Math.min(options.batch, options.results - from);
    const results = Array.from({ length: count }, (_, at) => {
      const number = from + at;
      const checkId = checkIds[number % checkIds.length] ?? '';
      const slotMs = firstSlotMs + Math.floor(number / checkIds.length) * periodMs;
      return apiResult({ checkId, location, slotMs, number });
    });
    const json = JSON.stringify({ agentId, epoch: 1, results, missed: [] });
    yield { body: gzipSync(json, { level: 1 }), results: count, bytes: json.length };
  }
}

/** The result of an API check over TLS with two assertions and half a kilobyte of JSON. */
export function apiResult(run: {
  readonly checkId: string;
  readonly location: string;
  readonly slotMs: number;
  readonly number: number;
}): CheckResult {
  const { checkId, location, slotMs, number } = run;
  const sequenceId = sequenceIdOf(checkId, location, slotMs);
  const responseTime = 20 + (number % 977) / 16;
  const stoppedAt = new Date(slotMs + 90).toISOString();
  return {
    resultType: 'FINAL',
    id: resultIdOf(sequenceId, 1),
    name: `Orders of ${checkId}`,
    checkId,
    checkType: 'API',
    hasFailures: number % 50 === 0,
    hasErrors: false,
    isDegraded: false,
    isCancelled: false,
    overMaxResponseTime: false,
    runLocation: location,
    startedAt: new Date(slotMs + 7).toISOString(),
    stoppedAt,
    created_at: stoppedAt,
    responseTime,
    apiCheckResult: detail(sequenceId, responseTime, slotMs),
    tcpCheckResult: null,
    dnsCheckResult: null,
    icmpCheckResult: null,
    browserCheckResult: null,
    multiStepCheckResult: null,
    agenticCheckResult: null,
    checkRunId: slotMs,
    attempts: 0,
    sequenceId,
    errorGroupIds: [],
  };
}

/** @param random differs in each result, so that they compress no better than real ones */
function detail(random: string, totalMs: number, slotMs: number): HttpDetail {
  const url = `https://orders.test/health?run=${random}`;
  const [connect, secureConnect, response] = [3.5, totalMs * 0.4, totalMs * 0.9];
  return {
    request: {
      method: 'GET',
      url,
      data: '',
      headers: { accept: 'application/json', authorization: '********' },
      params: {},
    },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: '1.1',
      headers: {
        date: new Date(slotMs).toUTCString(),
        'content-type': 'application/json; charset=utf-8',
        'content-length': '512',
        connection: 'close',
        'cache-control': 'no-store',
        'strict-transport-security': 'max-age=31536000',
        'x-request-id': random,
        'set-cookie': [`session=${random}; Path=/; HttpOnly`],
      },
      ip: '192.0.2.17',
      ipFamily: 'IPv4',
      url,
      redirects: [],
      tls: {
        protocol: 'TLSv1.3',
        cipher: 'TLS_AES_256_GCM_SHA384',
        alpnProtocol: 'http/1.1',
        authorized: true,
        certificate: {
          subject: 'CN=orders.test',
          issuer: 'CN=R11, O=Some Authority, C=US',
          subjectAltNames: ['DNS:orders.test', 'DNS:www.orders.test'],
          validFrom: '2026-01-01T00:00:00.000Z',
          validTo: '2026-04-01T00:00:00.000Z',
          daysRemaining: 60,
          serialNumber: '03A1B2C3D4E5F60718293A4B5C6D7E8F9012',
          fingerprint256: `${'AA:'.repeat(31)}BB`,
        },
      },
      timings: { socket: 0.1, lookup: 1.5, connect, secureConnect, response, end: totalMs },
      timingPhases: {
        wait: 0.1,
        dns: 1.4,
        tcp: 2,
        tls: secureConnect - connect,
        firstByte: response - secureConnect,
        download: totalMs - response,
        total: totalMs,
      },
      body: JSON.stringify({
        status: 'up',
        database: { state: 'up', lag: 3 },
        instance: random,
        queues: Array.from({ length: 12 }, (_, n) => ({ name: `queue-${n}`, waiting: n * 7 })),
      }),
      bodyEncoding: 'text',
      bodyBytes: 512,
      bodyTruncated: false,
    },
    assertions: [
      {
        source: 'STATUS_CODE',
        property: '',
        comparison: 'EQUALS',
        target: '200',
        regex: null,
        actual: '200',
        error: null,
      },
      {
        source: 'JSON_BODY',
        property: '$.database.state',
        comparison: 'EQUALS',
        target: 'up',
        regex: null,
        actual: 'up',
        error: null,
      },
    ],
    requestError: null,
    requestErrorCode: null,
    jobLog: [
      { time: slotMs + 7, level: 'info', msg: `GET ${url}` },
      { time: slotMs + 90, level: 'info', msg: `200 OK in ${totalMs} ms` },
    ],
    jobAssets: [],
    pcapDataUrl: null,
    traceroute: null,
  };
}

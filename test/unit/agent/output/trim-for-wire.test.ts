import { describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES, trimForWire } from '../../../../src/agent/output/trim-for-wire.ts';
import type { DnsDetail } from '../../../../src/model/result/details/dns-detail.ts';
import type { HttpDetail } from '../../../../src/model/result/details/http-detail.ts';
import type { TcpDetail } from '../../../../src/model/result/details/tcp-detail.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { checkResultSchema } from '../../../../src/wire/v1/check-result.ts';
import {
  type HttpResponseFields,
  httpDetail,
  wireResult,
} from '../../../support/samples/wire-results.ts';

function fitted(result: CheckResult) {
  const { body, isValid } = trimForWire(result);
  const sent: CheckResult = JSON.parse(body.toString());
  expect(isValid).toBe(true);
  expect(body.length).toBeLessThanOrEqual(MAX_RESULT_BYTES);
  expect(checkResultSchema.safeParse(sent).error).toBeUndefined();
  const { id, checkId, sequenceId, hasFailures, startedAt, stoppedAt, attempts } = result;
  expect(sent).toMatchObject({
    id,
    checkId,
    sequenceId,
    hasFailures,
    startedAt,
    stoppedAt,
    attempts,
  });
  return sent;
}

const url = (response: HttpResponseFields, fields: Partial<HttpDetail> = {}): CheckResult =>
  wireResult('s', { hasFailures: true, apiCheckResult: httpDetail(response, fields) });

const many = <T>(count: number, of: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => of(n));

const assertion = (chars: number) => ({
  source: 'TEXT_BODY' as const,
  property: '',
  comparison: 'EQUALS' as const,
  target: 'a'.repeat(chars),
  regex: null,
  actual: '\0'.repeat(chars),
  error: '"'.repeat(chars),
});

const tcp = (data: string): CheckResult =>
  wireResult('s', {
    checkType: 'TCP',
    tcpCheckResult: {
      request: { hostname: 'a.example', port: 1, data: null, ipFamily: 'IPv4' },
      response: { data, address: '192.0.2.1', port: 1, ipFamily: 'IPv4' },
      assertions: [],
      requestError: null,
      requestErrorCode: null,
      jobLog: [],
      jobAssets: [],
      pcapDataUrl: null,
      traceroute: null,
      timings: { lookup: 0, connect: 0, response: 0, end: 0 },
      timingPhases: { dns: 0, connection: 0, data: 0, total: 0 },
    } satisfies TcpDetail,
  });

const dns = (records: number, data: string): CheckResult =>
  wireResult('s', {
    checkType: 'DNS',
    dnsCheckResult: {
      request: { query: 'a', recordType: 'TXT', nameServer: null, port: 53, protocol: 'UDP' },
      response: {
        responseCode: 'NOERROR',
        answer: {
          Status: 0,
          TC: false,
          RD: true,
          RA: true,
          AD: false,
          CD: false,
          Question: [{ name: 'a', type: 'TXT' }],
          Answer: many(records, () => ({ name: 'a', type: 'TXT', TTL: 1, data })),
        },
        text: data.repeat(3),
        nameServer: { host: '192.0.2.1', port: 53, protocol: 'UDP' },
      },
      assertions: [],
      requestError: null,
      requestErrorCode: null,
      jobLog: [],
      jobAssets: [],
      pcapDataUrl: null,
      traceroute: null,
      timings: { end: 1 },
      timingPhases: { total: 1 },
    } satisfies DnsDetail,
  });

describe('trimForWire', () => {
  it('does not change a result that fits', () => {
    const result = url({ body: 'ä\u2028\0'.repeat(1000) });
    expect(fitted(result)).toEqual(result);
  });

  it.each<[string, CheckResult]>([
    [
      'redirects without end',
      url({ redirects: many(11, () => ({ status: 302, url: 'é'.repeat(262_144) })) }),
    ],
    ['a header beyond all bounds', url({ headers: { a: 'x'.repeat(2_000_000) } })],
    [
      'more headers than are taken',
      url({ headers: Object.fromEntries(many(20_000, (n) => [`h${n}`, 'x'])) }),
    ],
    ['a header name beyond all bounds', url({ headers: { ['n'.repeat(70_000)]: 'x' } })],
    [
      'cookies beyond all bounds',
      url({ headers: { 'set-cookie': many(20_000, (n) => 'c'.repeat(n % 100)) } }),
    ],
    ['assertions of megabytes', url({}, { assertions: many(50, () => assertion(40_000)) })],
    [
      'a job log of megabytes',
      url({}, { jobLog: many(1000, (time) => ({ time, level: 'info', msg: 'm'.repeat(9000) })) }),
    ],
    ['an endless error text', url({}, { requestError: 'e'.repeat(9000) })],
    [
      'more echoed headers than are taken',
      wireResult('s', {
        apiCheckResult: {
          ...httpDetail(),
          request: {
            method: 'GET',
            url: 'u',
            data: '',
            headers: Object.fromEntries(many(300, (n) => [`h${n}`, ''])),
            params: {},
          },
        },
      }),
    ],
    ['a name beyond all bounds', { ...url({}), name: 'n'.repeat(2000) }],
    [
      'a number that is none',
      url({
        timings: {
          socket: Number.NaN,
          lookup: 0,
          connect: 0,
          secureConnect: null,
          response: 0,
          end: Number.POSITIVE_INFINITY,
        },
      }),
    ],
    ['data that JSON makes six times as long', tcp('\0'.repeat(262_144))],
    ['a lone half of a pair where it is cut', tcp(`${'\u{1f600}'.repeat(300_000)}`)],
    ['records of megabytes', dns(6000, 'd'.repeat(2000))],
    ['one record of a megabyte', dns(1, 'é'.repeat(1_000_000))],
    ['more records than are taken', dns(7000, 'x')],
    ['a text that no cut makes valid', url({ httpVersion: '3' as '2' })],
  ])('cuts a result with %s so that the service accepts it', (_what, result) => {
    const sent = fitted(result);
    const detail = sent.apiCheckResult ?? sent.tcpCheckResult ?? sent.dnsCheckResult;
    const last = detail?.jobLog.at(-1);
    expect(last).toMatchObject({ time: Date.parse(result.stoppedAt), level: 'warn' });
    expect(last?.msg).toContain('too large to be sent');
  });

  it('cuts a long text body and marks it as cut, and leaves out a long base64 body', () => {
    const headers = { a: 'x'.repeat(2_000_000) };
    const text = fitted(url({ headers, body: 't'.repeat(69_000) })).apiCheckResult?.response;
    expect(text).toMatchObject({ body: 't'.repeat(65_536), bodyCut: true, bodyBytes: 1 });
    const bytes = fitted(url({ headers, body: 'A'.repeat(69_000), bodyEncoding: 'base64' }));
    expect(bytes.apiCheckResult?.response).toMatchObject({ body: null, bodyEncoding: 'omitted' });
  });

  it('cuts as little as necessary', () => {
    const redirects = many(10, () => ({ status: 302, url: 'u'.repeat(200_000) }));
    const sent = fitted(url({ redirects })).apiCheckResult?.response?.redirects;
    expect(sent?.map((redirect) => redirect.url.length)).toEqual(Array(10).fill(65_536));
  });

  it('reports a result that no cut makes valid', () => {
    const { body, isValid } = trimForWire(wireResult('s', { id: 'not its own' }));
    expect(isValid).toBe(false);
    expect(JSON.parse(body.toString())).toMatchObject({ id: 'not its own' });
  });
});

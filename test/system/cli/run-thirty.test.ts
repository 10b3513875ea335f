import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../support/agent/cli.ts';
import { icmpCapability } from '../../support/network/icmp-capability.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type DnsResponder, startDnsResponder } from '../../support/servers/dns-responder.ts';
import { servingZone } from '../../support/servers/dns-zone.ts';
import { type ListeningServer, listenTcp } from '../../support/servers/tcp-servers.ts';

/**
 * The fields of a check result: part 2.4 of the specification, and src/model/README.md, "The check
 * file", Result.
 */
const RESULT_FIELDS = [
  ...['resultType', 'id', 'name', 'checkId', 'checkType', 'hasFailures', 'hasErrors', 'isDegraded'],
  ...['isCancelled', 'overMaxResponseTime', 'runLocation', 'startedAt', 'stoppedAt', 'created_at'],
  ...['responseTime', 'apiCheckResult', 'browserCheckResult', 'multiStepCheckResult'],
  ...['agenticCheckResult', 'checkRunId', 'attempts', 'sequenceId', 'errorGroupIds'],
  ...['tcpCheckResult', 'dnsCheckResult', 'icmpCheckResult'],
];
const DETAIL_FIELDS = [
  ...['request', 'response', 'assertions', 'requestError', 'requestErrorCode', 'jobLog'],
  ...['jobAssets', 'pcapDataUrl', 'traceroute'],
];
const DETAIL_OF = {
  URL: 'apiCheckResult',
  API: 'apiCheckResult',
  TCP: 'tcpCheckResult',
  DNS: 'dnsCheckResult',
  ICMP: 'icmpCheckResult',
} as const;
const HTTP_PHASES = ['wait', 'dns', 'tcp', 'tls', 'firstByte', 'download', 'total'];
const HTTP_TIMINGS = ['socket', 'lookup', 'connect', 'secureConnect', 'response', 'end'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Json = Record<string, unknown>;
type CheckType = keyof typeof DETAIL_OF;
interface Result extends Json {
  readonly checkId: string;
  readonly checkType: CheckType;
}

const folder = makeTempFolder();
const web = createServer((request, response) => {
  response.statusCode = request.url === '/missing' ? 404 : 200;
  response.setHeader('content-type', 'application/json');
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify({ state: 'up', n: [1, 2] }));
});
let echo: ListeningServer;
let names: DnsResponder;
let canPing: boolean;

beforeAll(async () => {
  await once(web.listen(0, '127.0.0.1'), 'listening');
  echo = await listenTcp((socket) => socket.pipe(socket));
  const zone = servingZone({
    'shop.test 1': [{ type: 'A', name: 'shop.test', data: '192.0.2.7', ttl: 60 }],
    'shop.test 16': [{ type: 'TXT', name: 'shop.test', data: 'v=shop', ttl: 60 }],
  });
  names = await startDnsResponder({ udp: zone, tcp: zone });
  canPing = (await icmpCapability()) !== 'none';
});
afterAll(async () => {
  web.closeAllConnections();
  web.close();
  await echo.close();
  await names.close();
  folder.remove();
});

const is = (source: string, comparison: string, target: string, property = '') => ({
  source,
  property,
  comparison,
  target,
});

/** Six checks of each of the five types, which all pass. */
function thirty(): readonly Json[] {
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const { port } = echo;
  const target = { hostname: '127.0.0.1', port };
  const server = { nameServer: '127.0.0.1', port: names.port };
  const requests: Readonly<Record<CheckType, readonly Json[]>> = {
    URL: [
      { url },
      { url: `${url}/a?b=c` },
      { url, followRedirects: false },
      { url, assertions: [is('STATUS_CODE', 'EQUALS', '200')] },
      { url, assertions: [is('STATUS_CODE', 'LESS_THAN', '300')] },
      { url: `${url}/missing`, assertions: [is('STATUS_CODE', 'EQUALS', '404')] },
    ],
    API: [
      { url, assertions: [is('JSON_BODY', 'EQUALS', 'up', '$.state')] },
      { url, assertions: [is('HEADERS', 'CONTAINS', 'json', 'content-type')] },
      { url, assertions: [is('TEXT_BODY', 'CONTAINS', 'up')] },
      { url, method: 'POST', bodyType: 'JSON', body: '{}' },
      { url, method: 'HEAD', queryParameters: [{ key: 'q', value: '1' }] },
      { url, method: 'DELETE', headers: [{ key: 'x-shop', value: '1' }] },
    ],
    TCP: [
      target,
      { ...target, data: 'ping', assertions: [is('RESPONSE_DATA', 'EQUALS', 'ping')] },
      { ...target, data: 'ping', assertions: [is('RESPONSE_DATA', 'CONTAINS', 'in')] },
      { ...target, data: 'a1', assertions: [is('RESPONSE_DATA', 'EQUALS', '1', 'a(\\d)')] },
      { ...target, assertions: [is('RESPONSE_TIME', 'LESS_THAN', '5000')] },
      { ...target, hostname: 'localhost' },
    ],
    DNS: [
      { ...server, query: 'shop.test' },
      { ...server, query: 'shop.test', protocol: 'TCP' },
      { ...server, query: 'shop.test', recordType: 'TXT' },
      { ...server, query: 'none.test', assertions: [is('RESPONSE_CODE', 'EQUALS', 'NXDOMAIN')] },
      {
        ...server,
        query: 'shop.test',
        assertions: [is('JSON_ANSWER', 'EQUALS', '192.0.2.7', '$.Answer[0].data')],
      },
      { ...server, query: 'shop.test', assertions: [is('TEXT_ANSWER', 'CONTAINS', '192.0.2.7')] },
    ],
    ICMP: [
      { pingCount: 1 },
      { pingCount: 1, assertions: [is('LATENCY', 'LESS_THAN', '1000', 'avg')] },
      { pingCount: 1, assertions: [is('LATENCY', 'LESS_THAN', '1000', 'max')] },
      { pingCount: 1, assertions: [is('JSON_RESPONSE', 'EQUALS', '0', '$.packetLoss')] },
      { pingCount: 1, assertions: [is('JSON_RESPONSE', 'EQUALS', '127.0.0.1', '$.resolvedIp')] },
      { pingCount: 2 },
    ].map((request) => ({ hostname: '127.0.0.1', ...request })),
  };
  return Object.entries(requests).flatMap(([checkType, list]) =>
    list.map((request, n) => ({
      id: `${checkType.toLowerCase()}-${n}`,
      checkType,
      // A 404 fails by the criterion of URL checks, whatever its assertions say.
      shouldFail: checkType === 'URL' && n === 5,
      activated: checkType !== 'ICMP' || canPing,
      request,
    })),
  );
}

/** Times are not judged here: the machine may be busy with other tests. */
const UNTIMED = { doubleCheck: false, degradedResponseTime: null, maxResponseTime: null };

async function runJson(...checks: readonly Json[]) {
  const file = folder.file('thirty.json');
  writeFileSync(file, JSON.stringify({ defaults: UNTIMED, checks }));
  const { code, stdout, stderr } = await runCli(['run', file, '--output', 'json']);
  const lines = stdout === '' ? [] : stdout.replace(/\n$/, '').split('\n');
  return { code, stderr, results: lines.map((line) => JSON.parse(line) as Result) };
}

function expectWellFormed(result: Result): void {
  expect(new Set(Object.keys(result))).toEqual(new Set(RESULT_FIELDS));
  expect(result).toMatchObject({
    resultType: 'FINAL',
    id: expect.stringMatching(UUID) as string,
    sequenceId: expect.stringMatching(UUID) as string,
    name: result.checkId,
    hasErrors: false,
    isCancelled: false,
    runLocation: 'local',
    attempts: 0,
    errorGroupIds: [],
    browserCheckResult: null,
    multiStepCheckResult: null,
    agenticCheckResult: null,
  });
  const [startedMs, stoppedMs] = [result.startedAt, result.stoppedAt].map((time) => {
    expect(new Date(String(time)).toISOString()).toBe(time);
    return Date.parse(String(time));
  });
  expect(stoppedMs).toBeGreaterThanOrEqual(Number(startedMs));
  expect(result.responseTime).toBeGreaterThan(0);
  expect(Number.isInteger(result.checkRunId)).toBe(true);

  const own = DETAIL_OF[result.checkType];
  for (const field of new Set(Object.values(DETAIL_OF))) {
    if (field !== own) expect(result[field]).toBeNull();
  }
  const detail = result[own] as Json;
  expect(Object.keys(detail)).toEqual(expect.arrayContaining(DETAIL_FIELDS));
  if (own !== 'apiCheckResult') {
    expect(detail.timings).toMatchObject({ end: expect.any(Number) as number });
    expect(detail.timingPhases).toMatchObject({ total: expect.any(Number) as number });
    return;
  }
  expect(Object.keys(detail.request as Json)).toEqual(
    expect.arrayContaining(['method', 'url', 'data', 'headers', 'params']),
  );
  const { timings, timingPhases, ...response } = detail.response as {
    timings: Json;
    timingPhases: Record<string, number>;
  };
  expect(Object.keys(response)).toEqual(
    expect.arrayContaining(['status', 'statusText', 'body', 'headers']),
  );
  expect(new Set(Object.keys(timings))).toEqual(new Set(HTTP_TIMINGS));
  expect(new Set(Object.keys(timingPhases))).toEqual(new Set(HTTP_PHASES));
  const { total, ...phases } = timingPhases;
  const sum = Object.values(phases).reduce((left, right) => left + right, 0);
  expect(Math.abs(sum - Number(total))).toBeLessThanOrEqual(1);
}

describe('vedette run on thirty checks of all five types', () => {
  it('writes a result object of the specification for each, and exits with 0', async () => {
    const checks = thirty();
    expect(checks).toHaveLength(30);
    const { code, stderr, results } = await runJson(...checks);
    const active = checks.filter(({ activated }) => activated).map(({ id }) => id);
    expect(results.filter(({ hasFailures }) => hasFailures)).toEqual([]);
    expect({ code, stderr: canPing ? stderr : '' }).toEqual({ code: 0, stderr: '' });
    expect(results).toHaveLength(active.length);
    expect(new Set(results.map(({ checkId }) => checkId))).toEqual(new Set(active));
    expect(new Set(results.map(({ id }) => id)).size).toBe(results.length);
    for (const result of results) expectWellFormed(result);
  });

  it('exits with 1 if a check fails, and prints the others', async () => {
    const [first, ...others] = thirty();
    const wrong = [is('STATUS_CODE', 'EQUALS', '418')];
    const failing = { ...first, request: { ...(first?.request as Json), assertions: wrong } };
    const { code, results } = await runJson(failing, ...others);
    expect(code).toBe(1);
    expect(results).toHaveLength(canPing ? 30 : 24);
    for (const result of results) expectWellFormed(result);
    const failed = results.filter(({ hasFailures }) => hasFailures);
    expect(failed.map(({ checkId }) => checkId)).toEqual(['url-0']);
    expect(failed[0]?.apiCheckResult).toMatchObject({
      assertions: [{ source: 'STATUS_CODE', target: '418', actual: '200' }],
      requestError: null,
    });
  });

  it('exits with 2 if the file has a mistake, and runs no check', async () => {
    const [first, ...others] = thirty();
    const asked = names.asked.length;
    const { code, stderr, results } = await runJson({ ...first, frequency: 3 }, ...others);
    expect({ code, results }).toEqual({ code: 2, results: [] });
    expect(stderr).toMatch(/^vedette: .*thirty\.json:1:\d+: checks\[0\]\.frequency .*not 3\n$/);
    expect(names.asked).toHaveLength(asked);
  });
});

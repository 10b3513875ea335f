import { describe, expect, it } from 'vitest';
import { isFailure, rootMessageOf } from '../../../../src/model/result/failure-message.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { ASSERTION, HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { resultFor } from '../../../support/samples/results.ts';

const PASSED = { ...ASSERTION, error: null };
const COMMON = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
};
const SLOW = 'The response time was over maxResponseTime';

function http(status: number, fields: Partial<CheckResult> = {}): CheckResult {
  const response = { ...HTTP_RESPONSE, status };
  const apiCheckResult = { ...HTTP_DETAIL, response, assertions: [PASSED] };
  return resultFor({ hasFailures: true, apiCheckResult, ...fields });
}

/** The result of a check whose assertion decides which statuses pass. */
function decided(status: number, fields: Partial<CheckResult> = {}): CheckResult {
  const response = { ...HTTP_RESPONSE, status };
  const assertions = [{ ...PASSED, comparison: 'ONE_OF', target: '200, 404' } as const];
  const apiCheckResult = { ...HTTP_DETAIL, response, assertions };
  return resultFor({ hasFailures: true, apiCheckResult, ...fields });
}

function tcp(fields: Partial<CheckResult> = {}): CheckResult {
  const target = { hostname: 'db.test', port: 1, ipFamily: 'IPv4' } as const;
  return resultFor({
    checkType: 'TCP',
    hasFailures: true,
    tcpCheckResult: {
      ...COMMON,
      request: { ...target, data: null },
      response: { data: '', address: '192.0.2.1', port: 1, ipFamily: 'IPv4' },
      timings: { lookup: 1, connect: 2, response: null, end: 3 },
      timingPhases: { dns: 1, connection: 1, data: 1, total: 3 },
    },
    ...fields,
  });
}

function dns(responseCode: string, fields: Partial<CheckResult> = {}, decided = false) {
  const answer = {
    ...{ Status: 0, TC: false, RD: true, RA: true, AD: false, CD: false },
    ...{ Question: [], Answer: [] },
  };
  const nameServer = { host: '192.0.2.53', port: 53, protocol: 'UDP' } as const;
  return resultFor({
    checkType: 'DNS',
    hasFailures: true,
    dnsCheckResult: {
      ...COMMON,
      assertions: decided ? [{ ...PASSED, source: 'RESPONSE_CODE' }] : [],
      request: { query: 'a.test', recordType: 'A', nameServer: null, port: 53, protocol: 'UDP' },
      response: { responseCode, answer, text: '', nameServer },
      timings: { end: 1 },
      timingPhases: { total: 1 },
    },
    ...fields,
  });
}

function icmp(packetLoss: number): CheckResult {
  return resultFor({
    checkType: 'ICMP',
    hasFailures: true,
    icmpCheckResult: {
      ...COMMON,
      request: { hostname: 'a.test', pingCount: 10, ipFamily: 'IPv4' },
      response: {
        hostname: 'a.test',
        resolvedIp: '192.0.2.1',
        ipFamily: 'IPv4',
        pingCount: 10,
        packetsSent: 10,
        packetsReceived: 10 - packetLoss / 10,
        packetLoss,
        dnsResolutionTime: 0,
        latency: { avg: 1, min: 1, max: 1, stdDev: 0 },
        pingResults: [],
      },
      timings: { lookup: 0, end: 1 },
      timingPhases: { dns: 0, total: 1 },
    },
  });
}

describe('the root message of a result', () => {
  const over = { overMaxResponseTime: true };

  it.each<[string, CheckResult, string]>([
    ['a bad status', http(503), 'status 503; under 400 is needed'],
    ['a bad status that came late', http(503, over), `status 503; under 400 is needed. ${SLOW}`],
    ['a late answer', http(200, over), SLOW],
    ['a status of 404 that an assertion allows, late', decided(404, over), SLOW],
    [
      'an answer where none is expected',
      http(200),
      'status 200; 400 or more, or no answer, is needed (shouldFail)',
    ],
    [
      'a connection that is not expected',
      tcp(),
      'The connection was made, where the check expects none',
    ],
    ['a slow connection', tcp(over), SLOW],
    ['another code', dns('SERVFAIL'), 'The name server answered SERVFAIL'],
    [
      'another code that came late',
      dns('REFUSED', over),
      `The name server answered REFUSED. ${SLOW}`,
    ],
    ['a code that an assertion allows, late', dns('NXDOMAIN', over, true), SLOW],
    ['a slow answer', dns('NOERROR', over), SLOW],
    [
      'an answer that is not expected',
      dns('NOERROR'),
      'The name server answered NOERROR, where the check expects an error code',
    ],
    ['loss', icmp(30), '30 % of the echo requests were lost'],
    ['no loss', icmp(0), 'Every echo request was answered, where the check expects loss'],
  ])('names %s', (_, result, message) => {
    expect(rootMessageOf(result)).toBe(message);
  });

  it('is the error of the request, otherwise the first failed assertion', () => {
    const assertions = [
      PASSED,
      { ...ASSERTION, error: 'first' },
      { ...ASSERTION, error: 'second' },
    ];
    const failed = resultFor({ hasFailures: true, apiCheckResult: { ...HTTP_DETAIL, assertions } });
    expect(rootMessageOf(failed)).toBe('first');
    const apiCheckResult = { ...HTTP_DETAIL, assertions, requestError: 'a.test is gone' };
    expect(rootMessageOf({ ...failed, apiCheckResult })).toBe('a.test is gone');
    expect(
      rootMessageOf({ ...failed, apiCheckResult: { ...apiCheckResult, requestError: ' ' } }),
    ).toBe('first');
  });

  it('is null if nothing failed, or if there is no message', () => {
    expect(rootMessageOf(http(503, { hasFailures: false }))).toBeNull();
    expect(rootMessageOf(http(503, { hasErrors: true }))).toBeNull();
    expect(rootMessageOf(http(503, { isCancelled: true }))).toBeNull();
    expect(rootMessageOf(resultFor({ hasFailures: true }))).toBeNull();
    expect(rootMessageOf(resultFor({ hasFailures: true, ...over }))).toBe(SLOW);
    expect(isFailure(resultFor({ isDegraded: true }))).toBe(false);
    expect(isFailure(resultFor({ hasFailures: true }))).toBe(true);
  });
});

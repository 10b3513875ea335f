import type { AssertionResult } from '../../../src/model/check/assertions/assertion.ts';
import type { HttpDetail, HttpResponse } from '../../../src/model/result/details/http-detail.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { resultFor } from './results.ts';

const TIMING_PHASES = {
  wait: 0,
  dns: 1.5,
  tcp: 2,
  tls: 0,
  firstByte: 8,
  download: 0.25,
  total: 11.75,
};
const TIMINGS = {
  socket: 0,
  lookup: 1.5,
  connect: 3.5,
  secureConnect: null,
  response: 11.5,
  end: 11.75,
};

export const HTTP_RESPONSE: HttpResponse = {
  status: 200,
  statusText: 'OK',
  httpVersion: '1.1',
  headers: {},
  ip: '127.0.0.1',
  ipFamily: 'IPv4',
  url: 'http://127.0.0.1/',
  redirects: [],
  tls: null,
  body: 'ok',
  bodyEncoding: 'text',
  bodyBytes: 2,
  bodyTruncated: false,
  timings: TIMINGS,
  timingPhases: TIMING_PHASES,
};

export const HTTP_DETAIL: HttpDetail = {
  request: { method: 'GET', url: 'http://127.0.0.1/', data: '', headers: {}, params: {} },
  response: HTTP_RESPONSE,
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
};

export const ASSERTION: AssertionResult = {
  source: 'STATUS_CODE',
  property: '',
  comparison: 'EQUALS',
  target: '200',
  regex: null,
  actual: '503',
  error: 'expected the status code to equal 200, but got 503',
};

/** The FINAL result of a URL check that got a response and passed, overridden by the fields. */
export function resultOf(fields: Partial<CheckResult> = {}): CheckResult {
  return resultFor({
    name: 'Shop',
    checkId: 'shop',
    responseTime: 11.75,
    apiCheckResult: HTTP_DETAIL,
    ...fields,
  });
}

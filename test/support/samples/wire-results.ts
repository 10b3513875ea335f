import { resultIdOf } from '../../../src/model/ids.ts';
import type { HttpDetail } from '../../../src/model/result/details/http-detail.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { resultFor } from './results.ts';

/** A result that a service accepts: its id contains its sequence and attempt. */
export function wireResult(sequenceId: string, fields: Partial<CheckResult> = {}): CheckResult {
  const attempts = fields.attempts ?? 0;
  return resultFor({
    sequenceId,
    attempts,
    id: resultIdOf(sequenceId, attempts + 1),
    ...fields,
  });
}

const NO_TIMINGS = {
  socket: 0,
  lookup: 0,
  connect: 0,
  secureConnect: null,
  response: 1,
  end: 2,
} as const;

const NO_PHASES = {
  wait: 0,
  dns: 0,
  tcp: 0,
  tls: 0,
  firstByte: 1,
  download: 1,
  total: 2,
} as const;

export type HttpResponseFields = Partial<NonNullable<HttpDetail['response']>>;

/** An HTTP attempt with a response, overridden by the fields. */
export function httpDetail(
  response: HttpResponseFields = {},
  fields: Partial<HttpDetail> = {},
): HttpDetail {
  return {
    request: { method: 'GET', url: 'http://a.example/', data: '', headers: {}, params: {} },
    response: {
      status: 500,
      statusText: 'No',
      httpVersion: '1.1',
      headers: {},
      ip: '192.0.2.1',
      ipFamily: 'IPv4',
      url: 'http://a.example/',
      redirects: [],
      tls: null,
      timings: NO_TIMINGS,
      timingPhases: NO_PHASES,
      body: 'x',
      bodyEncoding: 'text',
      bodyBytes: 1,
      bodyTruncated: false,
      ...response,
    },
    assertions: [],
    requestError: null,
    requestErrorCode: null,
    jobLog: [],
    jobAssets: [],
    pcapDataUrl: null,
    traceroute: null,
    ...fields,
  };
}

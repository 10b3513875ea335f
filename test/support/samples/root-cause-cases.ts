import type { Check } from '../../../src/model/check/check.ts';
import { checkBodySchema } from '../../../src/model/check/check.ts';
import type { TlsFacts } from '../../../src/model/result/details/check-detail.ts';
import type { HttpDetail, HttpResponse } from '../../../src/model/result/details/http-detail.ts';
import type { ErrorCode } from '../../../src/model/result/error-codes.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import {
  type AnalysisInput,
  type FailureContext,
  NO_SURROUNDINGS,
} from '../../../src/service/root-cause/analysis-input.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from './http-results.ts';

export const SLOT = Date.UTC(2026, 0, 1, 12);

/** A URL check that failed in berlin, overridden by the fields. */
export function failedResult(fields: Partial<CheckResult> = {}): CheckResult {
  return resultOf({
    id: 'result-1',
    runLocation: 'berlin',
    hasFailures: true,
    checkRunId: SLOT,
    startedAt: new Date(SLOT).toISOString(),
    ...fields,
  });
}

const REQUEST = {
  method: 'GET',
  url: 'https://shop.test/cart?session=4711',
  data: '',
  headers: {},
  params: {},
};

/** An attempt that ended with the error code, without a response. */
export function withoutAnswer(
  code: ErrorCode,
  fields: Partial<HttpDetail> = {},
): Partial<CheckResult> {
  return {
    apiCheckResult: {
      ...HTTP_DETAIL,
      request: REQUEST,
      response: null,
      requestError: `shop.test:443 ended with ${code}`,
      requestErrorCode: code,
      ...fields,
    },
  };
}

/** An attempt with a response. */
export function answered(
  response: Partial<HttpResponse>,
  fields: Partial<HttpDetail> = {},
): Partial<CheckResult> {
  return {
    apiCheckResult: {
      ...HTTP_DETAIL,
      request: REQUEST,
      response: { ...HTTP_RESPONSE, url: REQUEST.url, ...response },
      ...fields,
    },
  };
}

export const CERTIFICATE: NonNullable<TlsFacts['certificate']> = {
  subject: 'CN=shop.test',
  issuer: 'CN=Test CA',
  subjectAltNames: ['DNS:shop.test', 'DNS:www.shop.test'],
  validFrom: '2025-10-01T00:00:00.000Z',
  validTo: '2026-03-01T00:00:00.000Z',
  daysRemaining: 58,
  serialNumber: '01',
  fingerprint256: 'AA:BB',
};

export function tlsWith(certificate: Partial<typeof CERTIFICATE>): TlsFacts {
  return {
    protocol: null,
    cipher: null,
    alpnProtocol: null,
    authorized: false,
    certificate: { ...CERTIFICATE, ...certificate },
  };
}

/** A check with the defaults of its type. */
export function checkOf(fields: Readonly<Record<string, unknown>> = {}): Check {
  const body = checkBodySchema.parse({
    checkType: 'URL',
    name: 'Shop',
    request: { url: REQUEST.url },
    ...fields,
  });
  return { ...body, id: 'shop' };
}

/** The input of an analysis. */
export function caseOf(
  result: Partial<CheckResult>,
  {
    check = null,
    surroundings = {},
  }: { readonly check?: Check | null; readonly surroundings?: Partial<FailureContext> } = {},
): AnalysisInput {
  return {
    accountId: 'account',
    result: failedResult(result),
    check,
    surroundings: { ...NO_SURROUNDINGS, ...surroundings },
  };
}

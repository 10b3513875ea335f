import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resultIdOf } from '../../../../src/model/ids.ts';
import type { HttpDetail } from '../../../../src/model/result/details/http-detail.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { checkResultSchema } from '../../../../src/wire/v1/check-result.ts';
import { caseCount } from '../../../support/nightly.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../../support/samples/http-results.ts';
import { overTheWire, RESULT } from './arbitraries.ts';

function result(fields: Partial<CheckResult> = {}): CheckResult {
  return resultOf({ id: resultIdOf('a-sequence', 1), ...fields });
}

function withDetail(fields: Partial<HttpDetail>): CheckResult {
  return result({ apiCheckResult: { ...HTTP_DETAIL, ...fields } });
}

/** The path of each problem; none if the result is accepted. */
function problems(value: unknown): string[] {
  const parsed = checkResultSchema.safeParse(overTheWire(value));
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
}

describe('a result on the wire', () => {
  it('arrives as it was sent, for any run', () => {
    fc.assert(
      fc.property(RESULT, (made) => {
        const sent = overTheWire(made);
        expect(checkResultSchema.parse(sent)).toEqual(withoutProto(sent));
      }),
      { numRuns: caseCount(150) },
    );
  });

  it('of any form never makes the reader throw', () => {
    const fields = Object.fromEntries(
      Object.keys(result()).map((key) => [key, fc.option(fc.jsonValue())]),
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record(fields, { requiredKeys: [] })), (value) => {
        expect(typeof checkResultSchema.safeParse(value).success).toBe('boolean');
      }),
    );
  });

  it('with any replaced part is accepted as it is, or refused', () => {
    fc.assert(
      fc.property(RESULT, fc.nat(), fc.jsonValue(), (made, seed, other) => {
        const sent = overTheWire(made);
        replaceOne(sent, seed, other);
        const parsed = checkResultSchema.safeParse(sent);
        // A parsed result is valid itself: it has nothing out of bounds.
        if (parsed.success) expect(checkResultSchema.parse(parsed.data)).toEqual(parsed.data);
      }),
      { numRuns: caseCount(300) },
    );
  });

  it('loses unknown fields at any depth', () => {
    const newer = overTheWire(
      result({
        apiCheckResult: {
          ...HTTP_DETAIL,
          response: Object.assign({ altSvc: 'h3' }, HTTP_RESPONSE),
          traceroute: { hops: [] } as unknown as null,
          tcp: { rtt: 1 } as unknown as null,
        },
      }),
    );
    const parsed = checkResultSchema.parse({ ...(newer as object), region: 'x'.repeat(1_000_000) });
    expect(parsed).toEqual(overTheWire(withDetail({ tcp: null })));
  });

  it('keeps an unknown error code', () => {
    const newer = withDetail({ requestErrorCode: 'QUIC_TIMEOUT' as 'TLS_TIMEOUT', response: null });
    expect(checkResultSchema.parse(newer).apiCheckResult?.requestErrorCode).toBe('QUIC_TIMEOUT');
  });

  it('contains nothing that the database cannot store', () => {
    const odd = 'a\0b\ud800c\u{1f600}';
    const parsed = checkResultSchema.parse(
      overTheWire(
        withDetail({
          requestError: odd,
          response: { ...HTTP_RESPONSE, body: odd, headers: { [odd]: odd, list: [odd] } },
        }),
      ),
    );
    const kept = 'a\ufffdb\ufffdc\u{1f600}';
    expect(parsed.apiCheckResult).toMatchObject({
      requestError: kept,
      response: { body: kept, headers: { [kept]: kept, list: [kept] } },
    });
  });

  it('counts a duration below 0 as 0', () => {
    expect(checkResultSchema.parse(result({ responseTime: -0.25 })).responseTime).toBe(0);
  });

  const LONG = 'x'.repeat(300_000);
  it.each<[string, Partial<CheckResult>]>([
    ['id', { id: resultIdOf('a-sequence', 2) }],
    ['id', { id: "'; drop table check_results; --" }],
    ['attempts', { attempts: 11, id: resultIdOf('a-sequence', 12) }],
    ['checkId', { checkId: '../../etc/passwd' }],
    ['name', { name: LONG }],
    ['checkType', { checkType: 'BROWSER' as 'URL' }],
    ['tcpCheckResult', { checkType: 'DNS', apiCheckResult: null, tcpCheckResult: {} as never }],
    ['apiCheckResult', { checkType: 'DNS' }],
    ['stoppedAt', { stoppedAt: '2025-12-31T23:59:59.000Z' }],
    ['startedAt', { startedAt: 'yesterday' }],
    ['responseTime', { responseTime: 1e12 }],
    ['checkRunId', { checkRunId: 0.5 }],
    ['checkRunId', { checkRunId: -1 }],
  ])('is refused for its %s: %j', (place, fields) => {
    expect(problems(result(fields)).some((path) => path.startsWith(place))).toBe(true);
  });

  it.each<[string, Partial<HttpDetail>]>([
    ['response.body', { response: { ...HTTP_RESPONSE, body: LONG } }],
    ['response.status', { response: { ...HTTP_RESPONSE, status: 1e9 } }],
    ['response.url', { response: { ...HTTP_RESPONSE, url: LONG } }],
    ['response.headers', { response: { ...HTTP_RESPONSE, headers: manyHeaders(16_385) } }],
    ['requestError', { requestError: LONG }],
    ['requestErrorCode', { requestErrorCode: 'not a code' as 'TLS_RESET' }],
    [
      'jobLog',
      { jobLog: Array.from({ length: 257 }, () => ({ time: 0, level: 'info', msg: '' })) },
    ],
    ['jobLog.0.msg', { jobLog: [{ time: 0, level: 'info', msg: LONG }] }],
    ['assertions', { assertions: LONG as never }],
  ])('is refused for its %s out of bounds', (place, fields) => {
    expect(problems(withDetail(fields))).toContain(`apiCheckResult.${place}`);
  });
});

function manyHeaders(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, '']));
}

/** A header of this name is dropped, so that it cannot become a prototype. */
function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), function (this: unknown, key, one: unknown) {
    return key === '__proto__' ? undefined : one;
  });
}

/** Walks down a path chosen by the seed, and replaces the value at its end. */
function replaceOne(root: unknown, seed: number, other: unknown): void {
  let place = root as Record<string, unknown>;
  let rest = seed;
  for (;;) {
    const keys = Object.keys(place);
    const key = keys[rest % Math.max(1, keys.length)];
    if (key === undefined) return;
    rest = Math.floor(rest / Math.max(1, keys.length));
    const inner = place[key];
    if (typeof inner !== 'object' || inner === null || rest % 3 === 0) {
      place[key] = other;
      return;
    }
    place = inner as Record<string, unknown>;
  }
}

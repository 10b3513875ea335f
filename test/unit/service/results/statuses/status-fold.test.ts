import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckStatus } from '../../../../../src/service/results/statuses/sql.ts';
import { statusAfterFinals } from '../../../../../src/service/results/statuses/status-fold.ts';
import type { ReceivedResult } from '../../../../../src/wire/v1/check-result.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../../../support/samples/http-results.ts';

interface Outcome {
  readonly slot: number;
  readonly location: string;
  readonly hasFailures?: boolean;
  readonly hasErrors?: boolean;
  readonly isDegraded?: boolean;
  readonly isCancelled?: boolean;
  readonly responseTime?: number;
  readonly days?: number | null;
}

function finalOf({ slot, location, days = null, ...fields }: Outcome): ReceivedResult {
  const certificate = {
    subject: 'CN=shop.test',
    issuer: 'CN=ca.test',
    subjectAltNames: [],
    validFrom: '2026-01-01T00:00:00.000Z',
    validTo: '2026-04-01T00:00:00.000Z',
    daysRemaining: days ?? 0,
    serialNumber: '01',
    fingerprint256: 'AA',
  };
  const tls = {
    protocol: 'TLSv1.3',
    cipher: null,
    alpnProtocol: null,
    authorized: true,
    certificate: days === null ? null : certificate,
  };
  return resultOf({
    ...fields,
    checkRunId: slot,
    runLocation: location,
    apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, tls } },
  });
}

function fold(outcomes: readonly Outcome[]): CheckStatus | null {
  return outcomes
    .map(finalOf)
    .reduce<CheckStatus | null>(
      (status, final) => statusAfterFinals(status, [final], new Set([final])),
      null,
    );
}

/** Each run has one FINAL. */
const OUTCOMES = fc.uniqueArray(
  fc.record({
    slot: fc.nat(4),
    location: fc.constantFrom('berlin', 'oslo', 'paris'),
    hasFailures: fc.boolean(),
    hasErrors: fc.boolean(),
    isDegraded: fc.boolean(),
    isCancelled: fc.boolean(),
    responseTime: fc.nat(5),
    days: fc.option(fc.nat(3)),
  }),
  { selector: ({ slot, location }) => `${slot} ${location}`, maxLength: 10 },
);

describe('the status of a check', () => {
  it('does not depend on the order and repetition of its FINALs', () => {
    const orders = OUTCOMES.chain((outcomes) =>
      fc.tuple(
        fc.constant(outcomes),
        fc.shuffledSubarray([...outcomes, ...outcomes], { minLength: outcomes.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(orders, ([outcomes, others]) => {
        expect(fold(others)).toEqual(fold(outcomes));
      }),
    );
  });

  it('is that of the worst run of the latest slot', () => {
    expect(
      fold([
        { slot: 2, location: 'oslo' },
        { slot: 1, location: 'berlin', hasFailures: true },
        { slot: 2, location: 'berlin', isDegraded: true },
      ]),
    ).toMatchObject({
      hasFailures: false,
      isDegraded: true,
      lastRunLocation: 'berlin',
      lastCheckRunId: '2',
    });
  });

  it('has the longest and shortest run of those without system errors', () => {
    const runs = [
      { slot: 1, location: 'oslo', responseTime: 20 },
      { slot: 2, location: 'oslo', responseTime: 10, hasFailures: true },
      { slot: 3, location: 'oslo', responseTime: 1, hasErrors: true },
      { slot: 4, location: 'oslo', responseTime: 99, isCancelled: true },
    ];
    expect(fold(runs)).toMatchObject({ longestRun: 20, shortestRun: 10, lastCheckRunId: '3' });
    expect(fold(runs.slice(2, 3))).toMatchObject({ longestRun: null, shortestRun: null });
    expect(fold(runs.slice(3))).toBeNull();
  });

  it('keeps the days of the certificate when a later run saw none', () => {
    const runs = [
      { slot: 1, location: 'oslo', days: 30 },
      { slot: 2, location: 'oslo', days: 29 },
      { slot: 3, location: 'oslo', hasFailures: true },
    ];
    expect(fold(runs)).toMatchObject({ sslDaysRemaining: 29, hasFailures: true });
    expect(fold(runs.slice(2))).toMatchObject({ sslDaysRemaining: null });
  });

  it('knows the certificate of a connection that failed for it', () => {
    const { response: _, ...detail } = HTTP_DETAIL;
    const tls = finalOf({ slot: 1, location: 'oslo', days: -1 }).apiCheckResult?.response?.tls;
    const failed = resultOf({ apiCheckResult: { ...detail, response: null, tls: tls ?? null } });
    expect(statusAfterFinals(null, [failed], new Set([failed]))).toMatchObject({
      sslDaysRemaining: -1,
    });
  });
});

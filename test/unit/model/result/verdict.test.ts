import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../../src/model/result/error-codes.ts';
import { type Observation, verdictOf } from '../../../../src/model/result/verdict.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';

const GOOD: Observation = {
  failure: null,
  responseTimeMs: 100,
  criterion: 'met',
  answered: true,
  assertionsFailed: false,
  packetLossPercent: null,
};
const NO_ANSWER: Observation = { ...GOOD, ...failure('CONNECT_REFUSED'), answered: false };
const BAD_STATUS: Observation = { ...GOOD, criterion: 'unmet' };
const PASSED = {
  hasFailures: false,
  hasErrors: false,
  isDegraded: false,
  overMaxResponseTime: false,
};
const FAILED = { ...PASSED, hasFailures: true };

function failure(code: ErrorCode): Pick<Observation, 'failure' | 'criterion'> {
  return { failure: { code, message: 'because' }, criterion: 'unmet' };
}

const url = (fields: CheckFields = {}) => checkOf('URL', fields);

describe('the verdict by the default criterion', () => {
  it.each([
    ['a good answer', GOOD, PASSED, FAILED],
    ['a bad status', BAD_STATUS, FAILED, PASSED],
    ['no answer', NO_ANSWER, FAILED, PASSED],
    ['a decided code', { ...GOOD, criterion: 'decided' as const }, PASSED, PASSED],
  ])('is as expected for %s, also if the check should fail', (_name, seen, as, not) => {
    expect(verdictOf(url(), seen)).toEqual(as);
    expect(verdictOf(url({ shouldFail: true }), seen)).toEqual(not);
  });

  it('is failed for a broken body, whatever the status', () => {
    const seen = { ...GOOD, ...failure('BODY_TRUNCATED'), criterion: 'met' as const };
    expect(verdictOf(url(), seen)).toEqual(FAILED);
  });

  it('is never passed for a forbidden target, even if the check should fail', () => {
    const seen = { ...NO_ANSWER, ...failure('ADDRESS_DENIED') };
    expect(verdictOf(url({ shouldFail: true }), seen)).toEqual(FAILED);
  });
});

describe('the verdict of assertions', () => {
  it('is not inverted if the check should fail', () => {
    const seen = { ...BAD_STATUS, assertionsFailed: true };
    expect(verdictOf(url({ shouldFail: true }), seen)).toEqual(FAILED);
    expect(verdictOf(url(), { ...GOOD, assertionsFailed: true })).toEqual(FAILED);
  });
});

describe('response time thresholds', () => {
  const limits = { degradedResponseTime: 1000, maxResponseTime: 2000 };
  const OVER_MAX = { ...FAILED, overMaxResponseTime: true };
  const DEGRADED = { ...PASSED, isDegraded: true };

  it.each([
    [1000, PASSED],
    [1000.001, DEGRADED],
    [2000, DEGRADED],
    [2000.001, OVER_MAX],
  ])('apply only to times above them: %f ms', (responseTimeMs, verdict) => {
    expect(verdictOf(url(limits), { ...GOOD, responseTimeMs })).toEqual(verdict);
  });

  it('do not apply if they are null', () => {
    const off = { degradedResponseTime: null, maxResponseTime: null };
    expect(verdictOf(url(off), { ...GOOD, responseTimeMs: 29_000 })).toEqual(PASSED);
  });

  it('do not fail a check that should fail and got no response for a long time', () => {
    const seen = { ...NO_ANSWER, responseTimeMs: 30_000 };
    expect(verdictOf(url({ shouldFail: true, ...limits }), seen)).toEqual(PASSED);
    expect(verdictOf(url(limits), seen)).toEqual(OVER_MAX);
  });
});

describe('a packet loss threshold', () => {
  it.each([
    [0, 'met', PASSED],
    [10, 'met', { ...PASSED, isDegraded: true }],
    [20, 'unmet', FAILED],
  ] as const)('of %i percent is met at or above', (packetLossPercent, criterion, verdict) => {
    expect(verdictOf(checkOf('ICMP'), { ...GOOD, criterion, packetLossPercent })).toEqual(verdict);
  });

  it('does not degrade a check that should fail', () => {
    const seen = { ...GOOD, criterion: 'unmet' as const, packetLossPercent: 100 };
    expect(verdictOf(checkOf('ICMP', { shouldFail: true }), seen)).toEqual(PASSED);
  });
});

describe('a fault of the agent', () => {
  it.each(['ICMP_NOT_PERMITTED', 'INTERNAL_ERROR'] as const)(
    '%s is no failure of the target',
    (code) => {
      const seen = { ...NO_ANSWER, ...failure(code), assertionsFailed: true };
      expect(verdictOf(url(), seen)).toEqual({ ...PASSED, hasErrors: true });
    },
  );
});

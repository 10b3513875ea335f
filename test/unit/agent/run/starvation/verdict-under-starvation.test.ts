import { describe, expect, it, onTestFinished } from 'vitest';
import { createEvaluator } from '../../../../../src/agent/assertions/evaluator.ts';
import {
  NOTHING_SEEN,
  type Probed,
  responseTimeEarlier,
} from '../../../../../src/agent/run/check-types/check-type.ts';
import {
  type Starved,
  tooLongAtMost,
  verdictUnderStarvation,
} from '../../../../../src/agent/run/starvation/verdict-under-starvation.ts';
import type { ErrorCode } from '../../../../../src/model/result/error-codes.ts';
import { type Verdict, verdictOf } from '../../../../../src/model/result/verdict.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

const workerUrl = new URL(
  '../../../../../dist/agent/assertions/evaluation-worker.js',
  import.meta.url,
);
/** Its pattern exceeded the time limit. */
const CUT_SHORT = {
  assertions: [{ source: 'TEXT_BODY', regex: '^(a+)+$', comparison: 'NOT_NULL' }],
  firstIsCutShort: true,
};
const THRESHOLDS = { degradedResponseTime: 100, maxResponseTime: 1000 };

/** An answer with this status and response time. `more` replaces other fields. */
function answered(responseTimeMs: number, status: number, more: Partial<Probed> = {}): Probed {
  const timesEarlier = (byMs: number) => responseTimeEarlier(responseTimeMs, byMs);
  return {
    ...NOTHING_SEEN,
    answered: true,
    failure: null,
    criterion: status < 400 ? 'met' : 'unmet',
    responseTimeMs,
    sources: { STATUS_CODE: { kind: 'number', value: status }, ...timesEarlier(0) },
    timesEarlier,
    detail: () => ({}),
    ...more,
  };
}

function failed(code: ErrorCode, afterMs: number): Probed {
  return answered(afterMs, 500, {
    answered: false,
    sources: {},
    timesEarlier: () => ({}),
    failure: { code, message: code },
  });
}

interface Judged {
  readonly assertions?: readonly object[];
  /** The first assertion exceeded its time limit. */
  readonly firstIsCutShort?: boolean;
  readonly shouldFail?: boolean;
}

async function judge(
  probed: Probed,
  starvedMs: number,
  more: Partial<Starved> & Judged = {},
): Promise<Verdict | null> {
  const { assertions = [], firstIsCutShort = false, shouldFail = false, ...given } = more;
  const check = checkOf('API', { ...THRESHOLDS, shouldFail, request: { assertions } });
  const evaluator = createEvaluator({ clock: systemClock, workerUrl });
  onTestFinished(() => evaluator.close());
  const { signal } = new AbortController();
  const evaluated = check.request.assertions.slice(firstIsCutShort ? 1 : 0);
  const results = await evaluator.evaluate(evaluated, probed.sources, signal);
  const assertionsFailed = results.some(({ error }) => error !== null);
  const cutShort = new Set(firstIsCutShort ? check.request.assertions.slice(0, 1) : []);
  const base = { assertionsFailed, cutShort, lastTimeOut: null };
  const seen = { probed, starvedMs, uncertainMs: starvedMs, ...base, ...given };
  const measured = verdictOf(check, {
    ...probed,
    assertionsFailed: assertionsFailed || firstIsCutShort,
  });
  return verdictUnderStarvation(check, seen, measured, { evaluator, signal });
}

it('a time is too long by at most its length without the part that the kernel measured', () => {
  expect(tooLongAtMost({ responseTimeMs: 5, peerMs: 2 }, 97)).toBe(3);
  expect(tooLongAtMost({ responseTimeMs: 5, peerMs: 2 }, 1)).toBe(1);
  expect(tooLongAtMost({ responseTimeMs: 5, peerMs: 6 }, 97)).toBe(0);
});

describe('a time that is compared with thresholds', () => {
  it.each([
    ['passes where it is short enough as measured', 99, 90, { isDegraded: false }],
    ['is degraded where it is so without the starvation, too', 400, 250, { isDegraded: true }],
    ['is too long where it is so without the starvation, too', 1500, 400, { hasFailures: true }],
  ])('%s', async (_what, ms, starvedMs, verdict) => {
    expect(await judge(answered(ms, 200), starvedMs)).toMatchObject(verdict);
  });

  it.each([
    ['a pass and degraded', 101, 2],
    ['degraded and failed', 1001, 300],
    ['a pass and failed', 2000, 1990],
  ])('has no verdict between %s', async (_what, ms, starvedMs) => {
    expect(await judge(answered(ms, 200), starvedMs)).toBeNull();
  });

  it('is not shorter than the time that the kernel attributes to the target', async () => {
    const slow = answered(1500, 200, { peerMs: 1490 });
    expect(await judge(slow, 900)).toMatchObject({ hasFailures: true, overMaxResponseTime: true });
  });
});

it('has a verdict on a time that the kernel took, however starved the agent was', async () => {
  const verdict = await judge(answered(101, 200), 300, { uncertainMs: 0.2 });
  expect(verdict).toMatchObject({ isDegraded: true });
});

it('has no verdict on a reset after such a time if the agent kept the target waiting', async () => {
  expect(await judge(failed('CONNECTION_RESET', 90), 1100, { uncertainMs: 0 })).toBeNull();
});

describe('assertions on the response time', () => {
  const asserted = (comparison: string, target: string) => ({
    assertions: [{ source: 'RESPONSE_TIME', comparison, target }],
  });

  it('have no verdict if they hold at only one end of the possible times', async () => {
    expect(await judge(answered(90, 200), 50, asserted('LESS_THAN', '60'))).toBeNull();
    expect(await judge(answered(90, 200), 50, asserted('GREATER_THAN', '60'))).toBeNull();
  });

  it('have no verdict if they hold only at a time in between', async () => {
    expect(await judge(answered(90, 200), 50, asserted('EQUALS', '60'))).toBeNull();
  });

  it('have a verdict if they hold at every possible time', async () => {
    const verdict = await judge(answered(90, 200), 50, asserted('LESS_THAN', '95'));
    expect(verdict).toMatchObject({ hasFailures: false });
  });
});

describe('a failure', () => {
  it('of the status has a verdict, and is not reported as slow', async () => {
    expect(await judge(answered(5000, 500), 4990)).toEqual({
      hasFailures: true,
      hasErrors: false,
      isDegraded: false,
      overMaxResponseTime: false,
    });
  });

  it.each<ErrorCode>(['CONNECT_REFUSED', 'DNS_NXDOMAIN', 'TLS_CERT_EXPIRED'])(
    '%s has a verdict however starved the agent was',
    async (code) => {
      expect(await judge(failed(code, 5000), 4990)).toMatchObject({ hasFailures: true });
    },
  );

  it.each<ErrorCode>(['CONNECTION_RESET', 'CONNECTION_CLOSED', 'TLS_RESET'])(
    '%s has a verdict unless the agent kept the target waiting for more than a second',
    async (code) => {
      expect(await judge(failed(code, 1100), 900)).toMatchObject({ hasFailures: true });
      expect(await judge(failed(code, 1300), 1100)).toBeNull();
    },
  );

  const causedBy = (code: ErrorCode, afterMs: number, cause?: ErrorCode): Probed => {
    const failure = { ...failed(code, afterMs).failure, ...(cause && { cause }) };
    return { ...failed(code, afterMs), failure: failure as Probed['failure'] };
  };

  it('that another failure caused is judged as that one', async () => {
    const step = (afterMs: number, cause?: ErrorCode) => causedBy('STEP_FAILED', afterMs, cause);
    expect(await judge(step(1300, 'CONNECTION_CLOSED'), 1100)).toBeNull();
    expect(await judge(step(1100, 'CONNECTION_CLOSED'), 900)).toMatchObject({ hasFailures: true });
    expect(await judge(step(1300), 1100)).toMatchObject({ hasFailures: true });
  });

  it('to get a token may be due to a slow agent, unless the endpoint had its whole time', async () => {
    const noToken = (cause: ErrorCode) => causedBy('TOKEN_ENDPOINT_UNAVAILABLE', 1300, cause);
    expect(await judge(noToken('CONNECTION_RESET'), 900)).toMatchObject({ hasFailures: true });
    expect(await judge(noToken('CONNECTION_RESET'), 1100)).toBeNull();
    expect(await judge(noToken('RESPONSE_TIMEOUT'), 1100)).toBeNull();
    const certain = { lastTimeOut: 'certain' } as const;
    const verdict = await judge(noToken('RESPONSE_TIMEOUT'), 1100, certain);
    expect(verdict).toMatchObject({ hasFailures: true });
    expect(await judge(failed('TOKEN_REFUSED', 1300), 1100)).toMatchObject({ hasFailures: true });
  });

  it('with status 408 may be due to a slow agent', async () => {
    expect(await judge(answered(90, 408), 50)).toMatchObject({ hasFailures: true });
    expect(await judge(answered(1300, 408), 1100)).toBeNull();
  });

  it('to respond in time is certain if the target had its whole time limit', async () => {
    const timeOut = failed('RESPONSE_TIMEOUT', 60_000);
    const verdict = await judge(timeOut, 59_000, { lastTimeOut: 'certain' });
    expect(verdict).toMatchObject({ hasFailures: true });
    expect(await judge(timeOut, 59_000, { lastTimeOut: 'uncertain' })).toBeNull();
    expect(await judge(timeOut, 59_000, { lastTimeOut: null })).toBeNull();
  });

  it('of an assertion that a slow agent cut short has no verdict', async () => {
    expect(await judge(answered(5, 200), 0, CUT_SHORT)).toBeNull();
    const expected = { ...CUT_SHORT, shouldFail: true };
    expect(await judge(answered(5, 503), 0, expected)).toBeNull();
  });

  it('counts if it does not depend on an assertion that a slow agent cut short', async () => {
    const failing = { hasFailures: true };
    expect(await judge(answered(5, 503), 0, CUT_SHORT)).toMatchObject(failing);
    expect(await judge(failed('CONNECT_REFUSED', 5), 4000, CUT_SHORT)).toMatchObject(failing);
    const slow = { hasFailures: true, overMaxResponseTime: true };
    expect(await judge(answered(1500, 200), 400, CUT_SHORT)).toMatchObject(slow);
    const isTeapot = { source: 'STATUS_CODE', comparison: 'EQUALS', target: '418' };
    const both = { ...CUT_SHORT, assertions: [...CUT_SHORT.assertions, isTeapot] };
    expect(await judge(answered(5, 200), 0, both)).toMatchObject(failing);
  });

  it('has no verdict beside such an assertion if a slow agent may be its cause', async () => {
    expect(await judge(answered(1500, 200), 600, CUT_SHORT)).toBeNull();
    expect(await judge(failed('CONNECTION_RESET', 5000), 4000, CUT_SHORT)).toBeNull();
  });

  it('of the agent is never one of the target, starved or not', async () => {
    expect(await judge(failed('INTERNAL_ERROR', 5000), 4990)).toMatchObject({ hasErrors: true });
  });
});

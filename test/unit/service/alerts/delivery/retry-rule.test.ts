import { describe, expect, it } from 'vitest';
import type { SendOutcome } from '../../../../../src/service/alerts/delivery/outcome.ts';
import { outcomeOfAttempt } from '../../../../../src/service/alerts/delivery/retry-rule.ts';

type Failed = Extract<SendOutcome, { ok: false }>;

const FAILED: Failed = {
  ok: false,
  status: 503,
  error: 'the answer was the status 503',
  answer: 'busy',
  isFinal: false,
  retryAfterMs: null,
};

function become(attempt: number, fields: Partial<Failed> = {}, wasCut = false) {
  return outcomeOfAttempt({ ...FAILED, ...fields }, { attempt, wasCut, atMs: 1000 });
}

describe('after an attempt that failed', () => {
  it('there are five more, 20 s apart', () => {
    const states = [1, 2, 3, 4, 5, 6, 7].map((attempt) => become(attempt));
    expect(states.map(({ state, dueAtMs }) => [state, dueAtMs])).toEqual([
      ...Array.from({ length: 5 }, () => ['waiting', 21_000]),
      ['failed', null],
      ['failed', null],
    ]);
  });

  it('a longer wait that was asked for is kept to, a shorter one is not', () => {
    expect(become(1, { retryAfterMs: 90_000 }).dueAtMs).toBe(91_000);
    expect(become(1, { retryAfterMs: 1_000 }).dueAtMs).toBe(21_000);
  });

  it('there is none where it cannot help', () => {
    expect(become(1, { isFinal: true })).toMatchObject({ state: 'failed', error: FAILED.error });
  });

  it('one that was cut is sent again at once, the last one too', () => {
    expect(become(6, { status: null }, true)).toMatchObject({ state: 'waiting', dueAtMs: 1000 });
  });
});

import { describe, expect, it } from 'vitest';
import { outcomeOfAttempt } from '../../../../../src/service/alerts/delivery/attempt-outcome.ts';
import type { SendOutcome } from '../../../../../src/service/outgoing/send-outcome.ts';

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

describe('outcomeOfAttempt', () => {
  it('retries a failed delivery five times, 20 s apart', () => {
    const states = [1, 2, 3, 4, 5, 6, 7].map((attempt) => become(attempt));
    expect(states.map(({ state, dueAtMs }) => [state, dueAtMs])).toEqual([
      ...Array.from({ length: 5 }, () => ['waiting', 21_000]),
      ['failed', null],
      ['failed', null],
    ]);
  });

  it('waits for longer than 20 s where the receiver asks for it, and never for less', () => {
    expect(become(1, { retryAfterMs: 90_000 }).dueAtMs).toBe(91_000);
    expect(become(1, { retryAfterMs: 1_000 }).dueAtMs).toBe(21_000);
  });

  it('fails without a retry where the outcome is final', () => {
    expect(become(1, { isFinal: true })).toMatchObject({ state: 'failed', error: FAILED.error });
  });

  it('retries at once, also after the last attempt, where the stop of the service cut the attempt', () => {
    expect(become(6, { status: null }, true)).toMatchObject({ state: 'waiting', dueAtMs: 1000 });
  });
});

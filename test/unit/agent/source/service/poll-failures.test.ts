import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type PollFailure,
  PollFailures,
} from '../../../../../src/agent/source/service/poll-failures.ts';
import { captureLog } from '../../../../support/log-capture.ts';

function fault(fields: Partial<PollFailure> = {}): PollFailure {
  return {
    kind: 'offline',
    status: null,
    message: 'no connection',
    retryAfterMs: null,
    attributes: {},
    ...fields,
  };
}

const faults = () => new PollFailures(captureLog().log, { min: 1000, max: 4000 });

describe('the delay after a failed poll', () => {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });

  it('doubles up to its maximum, and is short again after an answer', () => {
    const polls = faults();
    expect([1, 2, 3, 4].map(() => polls.delayAfter(fault()))).toEqual([750, 1500, 3000, 3000]);
    polls.over();
    expect(polls.delayAfter(fault())).toBe(750);
  });

  it('is the Retry-After plus jitter, at most 300 s plus jitter', () => {
    const polls = faults();
    expect(polls.delayAfter(fault({ kind: 'busy', retryAfterMs: 7000 }))).toBe(7250);
    expect(polls.delayAfter(fault({ kind: 'busy', retryAfterMs: 3_600_000 }))).toBe(300_500);
  });

  it('is fixed with jitter for a refused key, and does not lengthen the delay of other faults', () => {
    const polls = faults();
    const unauthorized = fault({ kind: 'unauthorized', status: 401 });
    expect([1, 2].map(() => polls.delayAfter(unauthorized))).toEqual([45_000, 45_000]);
    expect(polls.delayAfter(fault())).toBe(750);
  });
});

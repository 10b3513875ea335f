import { describe, expect, it } from 'vitest';
import { Backoff, retryAfterMs } from '../../../src/runtime/backoff.ts';

describe('Backoff', () => {
  it('doubles the delay up to its maximum, with jitter in the upper half', () => {
    const shortest = new Backoff({ minMs: 100, maxMs: 300, random: () => 0 });
    expect([1, 2, 3, 4].map(() => shortest.next())).toEqual([50, 100, 150, 150]);
    const middle = new Backoff({ minMs: 100, maxMs: 300, random: () => 0.5 });
    expect([1, 2, 3, 4].map(() => middle.next())).toEqual([75, 150, 225, 225]);
  });

  it('adds the jitter to a Retry-After that is longer than its own delay', () => {
    const backoff = new Backoff({ minMs: 100, maxMs: 300, random: () => 0.5 });
    expect(backoff.next(5000)).toBe(5025);
  });

  it('doubles the exact delay without jitter, at least to a Retry-After', () => {
    const backoff = new Backoff({ minMs: 100, maxMs: 300, jitter: false });
    expect([1, 2, 3].map(() => backoff.next())).toEqual([100, 200, 300]);
    expect(backoff.next(5000)).toBe(5000);
  });

  it('starts again at its minimum after a reset', () => {
    const backoff = new Backoff({ minMs: 100, maxMs: 300, random: () => 0 });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.next()).toBe(50);
  });
});

describe('retryAfterMs', () => {
  it('reads seconds and dates, and cuts them to the maximum', () => {
    const wallMs = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMs(' 7 ', wallMs, 60_000)).toBe(7000);
    expect(retryAfterMs('Thu, 01 Jan 2026 00:00:09 GMT', wallMs, 60_000)).toBe(9000);
    expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', wallMs, 60_000)).toBe(0);
    expect(retryAfterMs('3600', wallMs, 60_000)).toBe(60_000);
  });

  it('is null without a header or with one that is neither seconds nor a date', () => {
    expect(retryAfterMs(null, 0, 60_000)).toBeNull();
    expect(retryAfterMs('soon', 0, 60_000)).toBeNull();
  });
});

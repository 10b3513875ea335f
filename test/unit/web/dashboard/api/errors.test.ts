import { describe, expect, it } from 'vitest';
import { adviceOf, asApiError, errorOf } from '../../../../../src/web/dashboard/api/errors.ts';

const failed = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  errorOf(new Response(null, { status, headers }), null);

describe('what to do about an error', () => {
  it('is to look into the log only where the service has written into it', () => {
    expect(adviceOf(failed(500, { 'x-request-id': '7' }))).toMatch(/the log of the service/);
    for (const status of [500, 502, 503, 504]) {
      expect(adviceOf(failed(status))).toBe('Wait a moment, then try again.');
    }
  });

  it('is to reload a page that has a fault', () => {
    expect(adviceOf(asApiError(new TypeError('x is not a function')))).toBe('Reload the page.');
  });
});

describe('the error of a response', () => {
  it.each([
    ['40', 40_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    [undefined, null],
  ])('says when to try again: Retry-After %s', (header, ms) => {
    const headers = header === undefined ? {} : { 'retry-after': header };
    expect(failed(429, headers).retryAfterMs).toBe(ms);
  });
});

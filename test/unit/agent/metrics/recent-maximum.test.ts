import { describe, expect, it } from 'vitest';
import { RecentMaximum } from '../../../../src/agent/metrics/recent-maximum.ts';

const MINUTE_MS = 60_000;

describe('the highest value of the last five minutes', () => {
  it('is unknown before the first value', () => {
    expect(new RecentMaximum(5 * MINUTE_MS).at(0)).toBeNull();
  });

  it('is forgotten five minutes after it, and the next one replaces it', () => {
    const recent = new RecentMaximum(5 * MINUTE_MS);
    recent.add(900, 0);
    recent.add(4, 1_000);
    recent.add(20, 2 * MINUTE_MS);
    expect(recent.at(2 * MINUTE_MS)).toBe(900);
    expect(recent.at(5 * MINUTE_MS - 1)).toBe(900);
    expect(recent.at(5 * MINUTE_MS)).toBe(20);
    expect(recent.at(7 * MINUTE_MS)).toBeNull();
  });

  it('counts a value of 0', () => {
    const recent = new RecentMaximum(5 * MINUTE_MS);
    recent.add(0, 10);
    expect(recent.at(10)).toBe(0);
  });
});

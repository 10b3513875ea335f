import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latencyOf, packetLossPercent } from '../../../../../src/agent/probes/icmp/statistics.ts';

describe('latencyOf', () => {
  it('has the population standard deviation', () => {
    expect(latencyOf([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ avg: 5, min: 2, max: 9, stdDev: 2 });
  });

  it('is zero spread for one reply', () => {
    expect(latencyOf([1.2345])).toEqual({ avg: 1.235, min: 1.235, max: 1.235, stdDev: 0 });
  });

  it('is null without a reply', () => {
    expect(latencyOf([])).toEqual({ avg: null, min: null, max: null, stdDev: null });
  });

  it('keeps min ≤ avg ≤ max, and stdDev within their distance', () => {
    const rtts = fc.array(fc.double({ min: 0, max: 2000, noNaN: true }), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(rtts, (times) => {
        const { avg, min, max, stdDev } = latencyOf(times);
        expect(avg).toBeGreaterThanOrEqual(min ?? Number.NaN);
        expect(avg).toBeLessThanOrEqual(max ?? Number.NaN);
        expect(stdDev).toBeLessThanOrEqual((max ?? 0) - (min ?? 0) + 0.001);
      }),
    );
  });
});

describe('packetLossPercent', () => {
  it.each([
    [10, 10, 0],
    [10, 8, 20],
    [10, 0, 100],
    [3, 2, 33.33],
    [3, 1, 66.67],
    [0, 0, 100],
  ])('of %i with %i answered is %d', (attempted, received, percent) => {
    expect(packetLossPercent(attempted, received)).toBe(percent);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nextRetryDelayMs,
  RETRY_TYPES,
  type RetryPlan,
  retryDelayMs,
  retryPlanOf,
  retryStrategySchema,
} from '../../../../src/model/check/retry.ts';

const STRATEGY = fc
  .record({
    type: fc.constantFrom(...RETRY_TYPES),
    baseBackoffSeconds: fc.integer({ min: 0, max: 600 }),
    maxRetries: fc.integer({ min: 1, max: 10 }),
    maxDurationSeconds: fc.integer({ min: 0, max: 600 }),
  })
  .map((given) => retryStrategySchema.parse(given));

const planOf = (given: object): RetryPlan => retryPlanOf(retryStrategySchema.parse(given), true);

describe('retryStrategy', () => {
  it('has the documented defaults', () => {
    expect(retryStrategySchema.parse({ type: 'FIXED' })).toEqual({
      type: 'FIXED',
      baseBackoffSeconds: 60,
      maxRetries: 2,
      maxDurationSeconds: 600,
      sameRegion: true,
      onlyOn: null,
    });
  });

  it.each([
    ['FIXED', [7, 7, 7]],
    ['LINEAR', [7, 14, 21]],
    ['EXPONENTIAL', [7, 49, 343]],
    ['SINGLE_RETRY', [7]],
  ] as const)('%s waits %j seconds', (type, seconds) => {
    const plan = planOf({ type, baseBackoffSeconds: 7, maxRetries: 3 });
    const delays = seconds.map((_, index) => retryDelayMs(plan, index + 1) / 1000);
    expect(delays).toEqual(seconds);
    expect(plan.maxRetries).toBe(seconds.length);
  });

  it.each([
    ['null', null],
    ['NO_RETRIES', retryStrategySchema.parse({ type: 'NO_RETRIES' })],
  ])('%s never retries, whatever doubleCheck says', (_name, strategy) => {
    expect(nextRetryDelayMs(retryPlanOf(strategy, true), 0, 0, true)).toBeNull();
  });

  it('gives one immediate retry if it is omitted and doubleCheck is on', () => {
    const plan = retryPlanOf(undefined, true);
    expect(nextRetryDelayMs(plan, 0, 30_000, false)).toBe(0);
    expect(nextRetryDelayMs(plan, 1, 30_000, false)).toBeNull();
    expect(nextRetryDelayMs(retryPlanOf(undefined, false), 0, 0, false)).toBeNull();
  });

  it('with onlyOn retries only network errors', () => {
    const plan = planOf({ type: 'FIXED', onlyOn: ['NETWORK_ERROR'] });
    expect(nextRetryDelayMs(plan, 0, 0, true)).toBe(60_000);
    expect(nextRetryDelayMs(plan, 0, 0, false)).toBeNull();
  });
});

describe('the next retry', () => {
  const RUN = fc.record({ retriesMade: fc.nat(12), elapsedMs: fc.nat(700_000) });

  it('never starts past maxDuration, nor beyond maxRetries', () => {
    fc.assert(
      fc.property(STRATEGY, RUN, (strategy, { retriesMade, elapsedMs }) => {
        const delayMs = nextRetryDelayMs(
          retryPlanOf(strategy, false),
          retriesMade,
          elapsedMs,
          true,
        );
        if (delayMs === null) return;
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(elapsedMs + delayMs).toBeLessThanOrEqual(strategy.maxDurationSeconds * 1000);
        expect(retriesMade).toBeLessThan(strategy.maxRetries);
      }),
    );
  });

  it('happens if it can start exactly at maxDuration', () => {
    const plan = planOf({ type: 'FIXED', baseBackoffSeconds: 10, maxDurationSeconds: 30 });
    expect(nextRetryDelayMs(plan, 0, 20_000, true)).toBe(10_000);
    expect(nextRetryDelayMs(plan, 0, 20_001, true)).toBeNull();
  });

  it('waits at least as long as the one before', () => {
    fc.assert(
      fc.property(STRATEGY, fc.integer({ min: 1, max: 9 }), (strategy, n) => {
        if (strategy.baseBackoffSeconds < 1) return;
        const plan = retryPlanOf(strategy, false);
        expect(retryDelayMs(plan, n + 1)).toBeGreaterThanOrEqual(retryDelayMs(plan, n));
      }),
    );
  });
});

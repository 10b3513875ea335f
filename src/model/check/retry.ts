import { z } from 'zod';

export const RETRY_TYPES = [
  'FIXED',
  'LINEAR',
  'EXPONENTIAL',
  'SINGLE_RETRY',
  'NO_RETRIES',
] as const;

/** The longest delay of a retry, and the longest time in which retries begin. */
export const MAX_RETRY_SECONDS = 600;

/** A run's retries, the last attempt's 30 s, and a margin for the transfer of its result. */
export const LONGEST_RUN_MS = MAX_RETRY_SECONDS * 1000 + 60_000;

/**
 * `onlyOn` is for URL and API checks, which have a status code (src/model/README.md,
 * "`retryStrategy`").
 */
export const retryStrategySchema = z
  .strictObject({
    type: z
      .enum(RETRY_TYPES)
      .describe(
        'The delay before retry n. FIXED: base; LINEAR: base · n; EXPONENTIAL: baseⁿ; SINGLE_RETRY: base, for one retry; NO_RETRIES: no retries.',
      ),
    baseBackoffSeconds: z
      .number()
      .min(0)
      .max(MAX_RETRY_SECONDS)
      .default(60)
      .describe('The base of the delay. The delay counts from the end of the previous attempt.'),
    maxRetries: z
      .int()
      .min(1)
      .max(10)
      .default(2)
      .describe('The maximum number of retries; SINGLE_RETRY makes one.'),
    maxDurationSeconds: z
      .number()
      .min(0)
      .max(MAX_RETRY_SECONDS)
      .default(600)
      .describe(
        'A retry that would start later than this after the start of the first attempt is not made.',
      ),
    sameRegion: z
      .boolean()
      .default(true)
      .describe('Whether retries run in the location of the failed attempt.'),
    onlyOn: z
      .array(z.enum(['NETWORK_ERROR']))
      .max(1)
      .nullable()
      .default(null)
      .describe('NETWORK_ERROR: retries only if no status code was received (URL and API).'),
  })
  .meta({ title: 'RetryStrategy' });
export type RetryStrategy = z.infer<typeof retryStrategySchema>;

/** How a run retries failed attempts, with all defaults filled in. */
export interface RetryPlan {
  readonly type: (typeof RETRY_TYPES)[number];
  readonly baseMs: number;
  readonly maxRetries: number;
  /** From the start of the first attempt; a retry that would start later is not made. */
  readonly maxDurationMs: number;
  readonly sameRegion: boolean;
  readonly onlyOnNetworkError: boolean;
}

const NO_RETRIES: RetryPlan = {
  type: 'NO_RETRIES',
  baseMs: 0,
  maxRetries: 0,
  maxDurationMs: 0,
  sameRegion: true,
  onlyOnNetworkError: false,
};

/** doubleCheck: one retry without delay, in another location if there is one. */
const DOUBLE_CHECK: RetryPlan = {
  ...NO_RETRIES,
  type: 'SINGLE_RETRY',
  maxRetries: 1,
  maxDurationMs: 600_000,
  sameRegion: false,
};

/**
 * @param strategy undefined: none given, so `doubleCheck` decides; null: the same as NO_RETRIES
 */
export function retryPlanOf(
  strategy: RetryStrategy | null | undefined,
  doubleCheck: boolean,
): RetryPlan {
  if (strategy === undefined) return doubleCheck ? DOUBLE_CHECK : NO_RETRIES;
  if (strategy === null || strategy.type === 'NO_RETRIES') return NO_RETRIES;
  return {
    type: strategy.type,
    baseMs: strategy.baseBackoffSeconds * 1000,
    maxRetries: strategy.type === 'SINGLE_RETRY' ? 1 : strategy.maxRetries,
    maxDurationMs: strategy.maxDurationSeconds * 1000,
    sameRegion: strategy.sameRegion,
    onlyOnNetworkError: strategy.onlyOn?.includes('NETWORK_ERROR') ?? false,
  };
}

/**
 * Milliseconds from the end of an attempt to retry `n` (1, 2, …): src/model/README.md,
 * "`retryStrategy`".
 */
export function retryDelayMs(plan: RetryPlan, n: number): number {
  switch (plan.type) {
    case 'FIXED':
    case 'SINGLE_RETRY':
      return plan.baseMs;
    case 'LINEAR':
      return plan.baseMs * n;
    case 'EXPONENTIAL':
      // The base is in seconds: 2 s gives 2, 4, 8 s.
      return (plan.baseMs / 1000) ** n * 1000;
    case 'NO_RETRIES':
      return 0;
  }
}

/**
 * The delay before the next retry, or null if there is no further one.
 *
 * @param retriesMade retries already made in this run
 * @param elapsedMs from the start of the first attempt to now, the end of the last one
 * @param networkError whether the last attempt ended without an answer (for `onlyOn`)
 */
export function nextRetryDelayMs(
  plan: RetryPlan,
  retriesMade: number,
  elapsedMs: number,
  networkError: boolean,
): number | null {
  if (retriesMade >= plan.maxRetries) return null;
  if (plan.onlyOnNetworkError && !networkError) return null;
  const delayMs = retryDelayMs(plan, retriesMade + 1);
  return elapsedMs + delayMs > plan.maxDurationMs ? null : delayMs;
}

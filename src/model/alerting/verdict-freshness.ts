import { LONGEST_RUN_MS } from '../check/retry.ts';

/**
 * How long the verdict of a location counts: a period, and the longest duration of a run, by which
 * one location can be behind the others with the same slot. The verdict of a location that has
 * stopped reporting expires then, so that it does not delay a recovery for ever.
 *
 * @returns milliseconds
 */
export function freshFor(periodMs: number): number {
  return periodMs + LONGEST_RUN_MS;
}

/**
 * Whether a verdict comes too late to change anything: it is older than the newest one of its check by
 * `freshMs` or more.
 */
export function isTooLate(slotMs: number, newestMs: number, freshMs: number): boolean {
  return slotMs < newestMs && slotMs <= newestMs - freshMs;
}

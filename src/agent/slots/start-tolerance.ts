/** The longest that any slot may start late. */
export const MAX_TOLERANCE_MS = 30_000;

/**
 * How late a slot may start; past that it is missed. At most half a period, so that a slot never
 * waits when the next one comes.
 */
export function startToleranceMs(periodMs: number): number {
  return Math.min(periodMs / 2, MAX_TOLERANCE_MS);
}

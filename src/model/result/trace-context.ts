import { stableId } from '../ids.ts';

/**
 * The ids of a run in traces. They are derived from the run's own ids, so the code that sends a
 * request and the code that exports its span compute the same ones.
 */

/**
 * The key from which the ids of a run in traces are derived.
 *
 * @param salt distinguishes agents with the same check file, whose runs have the same sequence ids.
 *   null for an agent of a service: another agent may make the next attempt of the run
 */
export function traceKeyOf(sequenceId: string, salt: string | null): string {
  return salt === null ? sequenceId : stableId('trace', salt, sequenceId);
}

/** The id of a run's trace: 32 hexadecimal digits, those of the key if it is a UUID. */
export function traceIdOf(traceKey: string): string {
  const own = hexOf(traceKey);
  return /^[0-9a-f]{32}$/.test(own) && /[1-9a-f]/.test(own) ? own : hexOf(stableId(traceKey));
}

/** The id of a span of that trace: 16 hexadecimal digits, the same for the same parts. */
export function spanIdOf(traceKey: string, ...parts: readonly (string | number)[]): string {
  // The 13th digit of such an id is its version, so the result is never zero.
  return hexOf(stableId('span', traceKey, ...parts)).slice(0, 16);
}

/**
 * The header traceparent of an attempt (W3C Trace Context, 3.2), with the flag `sampled`.
 *
 * @param attempt counts from 1
 */
export function traceparentOf(traceKey: string, attempt: number): string {
  return `00-${traceIdOf(traceKey)}-${spanIdOf(traceKey, attempt)}-01`;
}

function hexOf(id: string): string {
  return id.replaceAll('-', '').toLowerCase();
}

import { stableId } from '../ids.ts';

/**
 * The ids of a run in traces. They are made of the run's own ids, so an agent that sends a request and one
 * that exports its span need not tell each other.
 */

/** The trace of a run: 32 hexadecimal digits, those of its sequence id where that is a UUID. */
export function traceIdOf(sequenceId: string): string {
  const own = hexOf(sequenceId);
  return /^[0-9a-f]{32}$/.test(own) && /[1-9a-f]/.test(own) ? own : hexOf(stableId(sequenceId));
}

/** A span of that trace: 16 hexadecimal digits, the same for the same parts. */
export function spanIdOf(sequenceId: string, ...parts: readonly (string | number)[]): string {
  // The 13th digit of such an id is its version, so the result is never zero.
  return hexOf(stableId('span', sequenceId, ...parts)).slice(0, 16);
}

/**
 * The header traceparent of an attempt (W3C Trace Context, 3.2), whose trace is to be recorded.
 *
 * @param attempt counts from 1
 */
export function traceparentOf(sequenceId: string, attempt: number): string {
  return `00-${traceIdOf(sequenceId)}-${spanIdOf(sequenceId, attempt)}-01`;
}

function hexOf(id: string): string {
  return id.replaceAll('-', '').toLowerCase();
}

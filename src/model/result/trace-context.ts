import { stableId } from '../ids.ts';

/**
 * The ids of a run in traces. They are made of the run's own ids, so what sends a request and what exports
 * its span need not tell each other.
 */

/**
 * What the ids of a run in traces are made of.
 *
 * @param salt of an agent whose sequence ids other agents have, too: those of the same check file, whose
 *   runs are different ones. null for an agent of a service: another may make the next attempt of a run.
 */
export function traceKeyOf(sequenceId: string, salt: string | null): string {
  return salt === null ? sequenceId : stableId('trace', salt, sequenceId);
}

/** The trace of a run: 32 hexadecimal digits, those of its key where that is a UUID. */
export function traceIdOf(traceKey: string): string {
  const own = hexOf(traceKey);
  return /^[0-9a-f]{32}$/.test(own) && /[1-9a-f]/.test(own) ? own : hexOf(stableId(traceKey));
}

/** A span of that trace: 16 hexadecimal digits, the same for the same parts. */
export function spanIdOf(traceKey: string, ...parts: readonly (string | number)[]): string {
  // The 13th digit of such an id is its version, so the result is never zero.
  return hexOf(stableId('span', traceKey, ...parts)).slice(0, 16);
}

/**
 * The header traceparent of an attempt (W3C Trace Context, 3.2), whose trace is to be recorded.
 *
 * @param attempt counts from 1
 */
export function traceparentOf(traceKey: string, attempt: number): string {
  return `00-${traceIdOf(traceKey)}-${spanIdOf(traceKey, attempt)}-01`;
}

function hexOf(id: string): string {
  return id.replaceAll('-', '').toLowerCase();
}

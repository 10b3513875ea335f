import type { Scrubber } from '../../scrub/scrubber.ts';

/**
 * Removes secrets from the message and the stack of an error that will be printed. Returns the same
 * object: its class and its code identify the error.
 */
export function scrubError(thrown: unknown, scrubber: Scrubber): unknown {
  if (scrubber.isIdle) return thrown;
  if (!(thrown instanceof Error)) return scrubber.deep(thrown);
  // Defines values: some errors of Node and of libraries have getters here.
  const message = scrubber.text(String(thrown.message));
  const stack = scrubber.text(String(thrown.stack ?? ''));
  Object.defineProperty(thrown, 'message', { value: message, configurable: true });
  Object.defineProperty(thrown, 'stack', { value: stack, configurable: true });
  return thrown;
}

import type { Scrubber } from '../../scrub/scrubber.ts';

/**
 * The error that ends a program, without the secrets in its message and its stack: both are
 * printed. The same object, as its class and its code say what it is.
 */
export function scrubError(thrown: unknown, scrubber: Scrubber): unknown {
  if (scrubber.isIdle) return thrown;
  if (!(thrown instanceof Error)) return scrubber.deep(thrown);
  // As strings: some errors of Node and of libraries make them when they are read.
  const message = scrubber.text(String(thrown.message));
  const stack = scrubber.text(String(thrown.stack ?? ''));
  Object.defineProperty(thrown, 'message', { value: message, configurable: true });
  Object.defineProperty(thrown, 'stack', { value: stack, configurable: true });
  return thrown;
}

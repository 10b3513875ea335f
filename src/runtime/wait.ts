import type { Clock } from './clock.ts';

/**
 * Resolves true after `delayMs` on the clock, or false as soon as the signal aborts. Leaves no
 * timer and no listener behind either way.
 */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Whether the promise resolves before the signal aborts; rejects like it. Leaves no listener behind. */
export function isInTime(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(false);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise
      .then(() => resolve(true), reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A time of `performance.now()` that is always in the past, even after a duration is added to it. */
export const NEVER_MS = Number.NEGATIVE_INFINITY;

/**
 * Resolves after a time, or at once when the signal aborts or the window has the event `wakeOn`. Callers must
 * check the signal afterwards.
 *
 * @param ms milliseconds; at once if it is not above 0
 */
export function wait(ms: number, signal: AbortSignal, wakeOn?: 'online'): Promise<void> {
  if (!(ms > 0) || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      if (wakeOn !== undefined) removeEventListener(wakeOn, done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (wakeOn !== undefined) addEventListener(wakeOn, done);
  });
}

/**
 * Exponential backoff with jitter.
 *
 * @param failures in a row, from 1
 * @returns milliseconds: half of the longest wait or more
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  const most = Math.min(maxMs, firstMs * 2 ** Math.max(0, failures - 1));
  return most / 2 + (Math.random() * most) / 2;
}

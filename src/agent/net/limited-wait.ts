import type { Clock } from '../../runtime/clock.ts';

export interface Limits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Monotonic instant at which the wait is over. */
  readonly deadlineMs: number;
}

export interface Ends<T> {
  readonly timedOut: () => T;
  readonly cancelled: () => T;
}

/**
 * One wait that ends exactly once: by what `begin` settles it with, at the deadline, or by the
 * signal. What `begin` returns is called at the end, whichever it is, and closes what was opened.
 */
export function limitedWait<T>(
  { clock, signal, deadlineMs }: Limits,
  ends: Ends<T>,
  begin: (settle: (value: T) => void) => () => void,
): Promise<T> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(ends.cancelled());
      return;
    }
    let settled = false;
    let release: (() => void) | null = null;
    const settle = (value: T): void => {
      if (settled) return;
      settled = true;
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      release?.();
      resolve(value);
    };
    const onAbort = (): void => settle(ends.cancelled());
    // One more turn of the loop: what has already arrived on a socket counts before the timer.
    const onDeadline = (): void => {
      setImmediate(() => {
        if (!settled) settle(ends.timedOut());
      });
    };
    const cancelTimer = clock.after(deadlineMs - clock.monotonicMs(), onDeadline);
    signal.addEventListener('abort', onAbort, { once: true });
    release = begin(settle);
    if (settled) release();
  });
}

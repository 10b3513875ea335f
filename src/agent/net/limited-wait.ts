import type { Clock } from '../../runtime/clock.ts';
import { DeadlineExtension } from './deadline-extension.ts';
import { type PeerActivity, UNKNOWN_ACTIVITY } from './kernel/peer-activity.ts';
import type { StarvationWatch } from './starvation-watch.ts';

export interface Limits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Monotonic instant at which the wait is over. */
  readonly deadlineMs: number;
  /** The attempt's starvation; without it, starvation of the agent does not extend the deadline. */
  readonly starvation?: StarvationWatch | undefined;
}

export interface WaitOutcomes<T> {
  readonly timedOut: () => T;
  readonly cancelled: () => T;
  readonly activity?: () => PeerActivity;
}

/**
 * Waits until `begin` settles the wait, the deadline passes or the signal aborts; ends exactly
 * once. At the end it always calls the function that `begin` returned, to release resources.
 */
export function limitedWait<T>(
  limits: Limits,
  ends: WaitOutcomes<T>,
  begin: (settle: (value: T) => void) => () => void,
): Promise<T> {
  const { clock, signal, deadlineMs } = limits;
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(ends.cancelled());
      return;
    }
    let settled = false;
    let release: (() => void) | null = null;
    const extension = new DeadlineExtension(limits);
    const settle = (value: T): void => {
      if (settled) return;
      settled = true;
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      release?.();
      resolve(value);
    };
    const onAbort = (): void => settle(ends.cancelled());
    // One more event-loop iteration: data that has arrived on a socket counts before the timer.
    const onDeadline = (): void => {
      setImmediate(() => {
        if (settled) return;
        const moreMs = extension.nextMs(ends.activity?.() ?? UNKNOWN_ACTIVITY);
        if (moreMs === null) settle(ends.timedOut());
        else cancelTimer = clock.after(moreMs, onDeadline);
      });
    };
    let cancelTimer = clock.after(deadlineMs - clock.monotonicMs(), onDeadline);
    signal.addEventListener('abort', onAbort, { once: true });
    release = begin(settle);
    if (settled) release();
  });
}

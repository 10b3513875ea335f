import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import type { StarvationMeter } from '../../run/starvation/starvation-meter.ts';

/**
 * An attempt that has not ended after this time is waiting for its target. Most healthy targets
 * respond within it, so JOB_CONCURRENCY paces a burst of them.
 */
export const AT_WORK_MS = 50;
/** A body of this many bytes in that time (5 MiB/s) counts as work of the agent. */
export const AT_WORK_BYTES = 256 * 1024;

export interface WaitDetector {
  /** Called with the bytes of a body as they arrive. */
  received(bytes: number): void;
  /** The attempt has ended. */
  stop(): void;
}

/**
 * Calls `onWaits` once, when an attempt that begins now only waits for its target. Time for which the
 * agent was short of CPU does not count: more working attempts would make it worse.
 */
export function detectWaiting(
  clock: Clock,
  starvation: Pick<StarvationMeter, 'mark' | 'sinceMs'>,
  onWaits: () => void,
): WaitDetector {
  let bytes = 0;
  let cancelTimer: CancelTimer = () => {};
  const measure = (): void => {
    bytes = 0;
    const sinceMs = clock.monotonicMs();
    const mark = starvation.mark();
    const judge = (): void => {
      const hadMs = clock.monotonicMs() - sinceMs - starvation.sinceMs(mark);
      if (hadMs < AT_WORK_MS) cancelTimer = clock.after(AT_WORK_MS - hadMs, judge);
      else if (bytes >= AT_WORK_BYTES) measure();
      else onWaits();
    };
    cancelTimer = clock.after(AT_WORK_MS, judge);
  };
  measure();
  return {
    received(count) {
      bytes += count;
    },
    stop: () => cancelTimer(),
  };
}

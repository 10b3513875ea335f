import type { Clock } from '../runtime/clock.ts';

/** Milliseconds for operations in progress after the grace, or after a second signal. */
const FINAL_LIMIT_MS = 1_000;

interface ShutdownLimit {
  readonly signal: AbortSignal;
  /** Removes the timer and the listener. */
  cancel(): void;
}

/**
 * Aborts after `limitMs` (null: never), and at the latest FINAL_LIMIT_MS after `now`.
 *
 * @param now aborts when the grace has passed, or at a second signal
 */
export function shutdownLimit(
  clock: Clock,
  now: AbortSignal,
  limitMs: number | null,
): ShutdownLimit {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const cancels = limitMs === null ? [] : [clock.after(limitMs, end)];
  const hurry = (): void => void cancels.push(clock.after(FINAL_LIMIT_MS, end));
  if (now.aborted) hurry();
  else now.addEventListener('abort', hurry, { once: true });
  return {
    signal: limit.signal,
    cancel() {
      now.removeEventListener('abort', hurry);
      for (const cancel of cancels) cancel();
    },
  };
}

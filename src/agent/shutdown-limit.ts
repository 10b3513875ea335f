import type { Clock } from '../runtime/clock.ts';

/** For what is under way after the grace or a second signal, milliseconds. */
const LAST_WORD_MS = 1_000;

interface ShutdownLimit {
  readonly signal: AbortSignal;
  /** Removes the timer and the listener. */
  cancel(): void;
}

/**
 * Aborts after `limitMs` (null: never), and at the latest LAST_WORD_MS after `now`.
 *
 * @param now the grace has passed, or somebody does not want to wait
 */
export function shutdownLimit(
  clock: Clock,
  now: AbortSignal,
  limitMs: number | null,
): ShutdownLimit {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const cancels = limitMs === null ? [] : [clock.after(limitMs, end)];
  const hurry = (): void => void cancels.push(clock.after(LAST_WORD_MS, end));
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

import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store } from '../../database/store.ts';
import { ASSIGNMENTS_CHANNEL } from './location-changes.sql.ts';

/** Wakes held polls when the agents of their location should get a new answer. */
export interface LocationWake {
  /**
   * Resolves at the next notification of any replica, after `timeoutMs`, or when the signal aborts.
   * Call it before reading what is new: it misses earlier notifications.
   */
  wait(locationId: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Stops listening; pending waits end with their timeouts. */
  close(): Promise<void>;
}

export interface PollHold {
  readonly wake: Pick<LocationWake, 'wait'>;
  readonly locationId: string;
  readonly clock: Clock;
  readonly holdMs: number;
}

/**
 * Calls `look` at once and whenever the location is woken, until it returns an answer. The last call is made
 * when `holdMs` are over or the signal aborts.
 *
 * @param look returns null while there is no answer yet; the last call must return an answer
 */
export async function holdUntil<Answer>(
  { wake, locationId, clock, holdMs }: PollHold,
  look: (isLast: boolean) => Promise<Answer | null>,
  signal: AbortSignal,
): Promise<Answer> {
  const untilMs = clock.monotonicMs() + holdMs;
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      const leftMs = untilMs - clock.monotonicMs();
      const woken = wake.wait(locationId, Math.max(0, leftMs), ended.signal);
      const answer = await look(leftMs <= 0 || signal.aborted);
      if (answer !== null) return answer;
      await woken;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/**
 * Uses one LISTEN for all polls of this process.
 *
 * @throws StoreError where the database fails
 */
export async function createLocationWake(store: Store, clock: Clock): Promise<LocationWake> {
  const waiting = new Map<string, Set<AbortController>>();
  const wakeAll = (ones: Iterable<AbortController>): void => {
    for (const one of [...ones]) one.abort();
  };
  const end = await store.listen(
    ASSIGNMENTS_CHANNEL,
    (locationId) => wakeAll(waiting.get(locationId) ?? []),
    // Notifications sent while the connection was down are lost.
    () => wakeAll([...waiting.values()].flatMap((ones) => [...ones])),
  );
  return {
    async wait(locationId, timeoutMs, signal) {
      if (signal.aborted) return;
      const woken = new AbortController();
      const wake = (): void => woken.abort();
      signal.addEventListener('abort', wake, { once: true });
      const ones = waiting.get(locationId) ?? new Set();
      waiting.set(locationId, ones.add(woken));
      await sleep(clock, timeoutMs, woken.signal);
      signal.removeEventListener('abort', wake);
      ones.delete(woken);
      if (ones.size === 0) waiting.delete(locationId);
    },
    close: end,
  };
}

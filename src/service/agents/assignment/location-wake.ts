import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store } from '../../database/port.ts';
import { ASSIGNMENTS_CHANNEL } from './location-changes.sql.ts';

/** Wakes held polls when the agents of their location have something to hear of. */
export interface LocationWake {
  /**
   * Resolves at the next such word of any replica, after `timeoutMs`, or when the signal aborts.
   * It counts from the call on, so look for what is new after it and not before.
   */
  wait(locationId: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the listening; those who wait go on till their time is over. */
  close(): Promise<void>;
}

/**
 * One LISTEN for all polls of this process.
 *
 * @throws StoreError where the database cannot be asked
 */
export async function createLocationWake(store: Store, clock: Clock): Promise<LocationWake> {
  const waiting = new Map<string, Set<AbortController>>();
  const wakeAll = (ones: Iterable<AbortController>): void => {
    for (const one of [...ones]) one.abort();
  };
  const end = await store.listen(
    ASSIGNMENTS_CHANNEL,
    (locationId) => wakeAll(waiting.get(locationId) ?? []),
    // What was told while nobody listened is not known.
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

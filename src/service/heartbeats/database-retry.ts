import type { Clock } from '../../runtime/clock.ts';
import { StoreError } from '../database/store-errors.ts';

/** Heartbeats are excused after longer outages of the database: see `ServicePresence`. */
const RETRY_FOR_MS = 8_000;
const RETRY_AFTER_MS = 250;
/** Further requests fail at once. */
const MAX_WAITING = 1_000;

/**
 * Retries for some seconds while the database is unavailable. Jobs do not retry pings: a restart of
 * the database must not fail a job that pings once a day.
 */
export function createDatabaseRetry(clock: Clock): <T>(work: () => Promise<T>) => Promise<T> {
  let waiting = 0;

  return async (work) => {
    const endMs = clock.monotonicMs() + RETRY_FOR_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isAway(error) || clock.monotonicMs() >= endMs || waiting >= MAX_WAITING) throw error;
      }
      waiting += 1;
      await new Promise<void>((resolve) => clock.after(RETRY_AFTER_MS, resolve));
      waiting -= 1;
    }
  };
}

/** Whether the database is temporarily unavailable. A closed or broken one does not recover in this process. */
function isAway(error: unknown): boolean {
  if (!(error instanceof StoreError) || error.kind !== 'unavailable') return false;
  return error.code !== 'STORE_CLOSED' && error.code !== 'STORE_BROKEN';
}

import type { Clock } from '../../runtime/clock.ts';
import { StoreError } from '../database/store-errors.ts';

/** Longer absences of the database are excused: see `ServicePresence`. */
const HELD_FOR_MS = 8_000;
const TRY_AGAIN_AFTER_MS = 250;
/** Those beyond are answered by an error, as all are in the end. */
const MAX_HELD = 1_000;

/**
 * Tries again for some seconds what fails because the database is away. A ping is sent once, and the
 * job that pings once a day would fail for a restart of the database that nobody else has noticed.
 */
export function createDatabaseRetry(clock: Clock): <T>(work: () => Promise<T>) => Promise<T> {
  let held = 0;

  return async (work) => {
    const endMs = clock.monotonicMs() + HELD_FOR_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isAway(error) || clock.monotonicMs() >= endMs || held >= MAX_HELD) throw error;
      }
      held += 1;
      await new Promise<void>((resolve) => clock.after(TRY_AGAIN_AFTER_MS, resolve));
      held -= 1;
    }
  };
}

/** For now: one that is closed or broken is not there again while the process lives. */
function isAway(error: unknown): boolean {
  if (!(error instanceof StoreError) || error.kind !== 'unavailable') return false;
  return error.code !== 'STORE_CLOSED' && error.code !== 'STORE_BROKEN';
}

import { HOUR_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store } from '../store.ts';

/**
 * Vacuums the embedded database every hour until the signal aborts. It has no autovacuum: its files would
 * only grow, and its plans would rely on the statistics of an empty database. Logs failures.
 */
export async function runVacuum(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  if (store.kind !== 'pglite') return;
  while (await sleep(clock, HOUR_MS, signal)) {
    try {
      await store.query('vacuum (analyze)');
    } catch (error) {
      log.warn(`the embedded database could not be cleaned up: ${messageOf(error)}`);
    }
  }
}

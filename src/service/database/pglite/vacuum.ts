import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store } from '../port.ts';

const HOUR_MS = 3_600_000;

/**
 * Once an hour, until the signal aborts, does for the embedded database what PostgreSQL's autovacuum
 * does by itself: without it its files only grow, and its plans go by what it held at first. Logs
 * what fails.
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

import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../database/store.ts';
import { advanceAnnouncement, insertDeliveriesOf, lockAnnouncement } from './announcements.sql.ts';

/** Older news help nobody, for example after the service was away for days. */
const MAX_AGE_MS = 86_400_000;
/** Subscribers of a transaction: bounds how long it takes. */
const SUBSCRIBERS_AT_ONCE = 1_000;

/**
 * Makes the deliveries of the oldest announcement to its next subscribers. Any replica may do each
 * part: the announcement says how far it is, in the transaction that makes them.
 *
 * @returns whether there was one
 */
export function fanOut({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<boolean> {
  return store.transaction(async (tx) => {
    const announcement = await lockAnnouncement(tx);
    if (announcement === null) return false;
    const atMs = clock.wallMs();
    const limit = SUBSCRIBERS_AT_ONCE;
    if (atMs - announcement.createdAt.getTime() > MAX_AGE_MS) {
      await advanceAnnouncement(tx, { ...announcement, finishedAtMs: atMs });
      return true;
    }
    const { found, last } = await insertDeliveriesOf(tx, { ...announcement, atMs, limit });
    const finishedAtMs = found < limit ? atMs : null;
    await advanceAnnouncement(tx, { ...announcement, deliveredTo: last, finishedAtMs });
    return true;
  });
}

import type { Clock } from '../../runtime/clock.ts';
import { findCheck } from '../checks/exports.ts';
import type { Store } from '../database/port.ts';
import { notFound } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  countHeartbeatEvents,
  type EventCount,
  findHeartbeatEvent,
  type HeartbeatEvent,
  listHeartbeatEvents,
} from './events.sql.ts';

export type { HeartbeatEvent } from './events.sql.ts';

/** A part of the last hours or days, and the part of the same length before it: spec 2.12. */
export interface HeartbeatStats {
  /** Percent. */
  readonly successRatio: { readonly previousPeriod: number; readonly currentPeriod: number };
  readonly totalEntitiesCurrentPeriod: number;
}

export interface EventWithStats {
  readonly event: HeartbeatEvent;
  /** Up to now, whenever the event was. */
  readonly stats: { readonly last24Hours: HeartbeatStats; readonly last7Days: HeartbeatStats };
}

/** What happened to heartbeats. */
export interface HeartbeatEvents {
  /**
   * Newest first; all that are kept where no window is given. Epoch milliseconds.
   *
   * @throws ServiceError 404 for a check that does not exist or is no heartbeat
   */
  list(
    accountId: string,
    checkId: string,
    query: Page & { readonly fromMs: number | null; readonly toMs: number | null },
  ): Promise<readonly HeartbeatEvent[]>;
  /** @throws ServiceError 404 */
  read(accountId: string, checkId: string, id: string): Promise<EventWithStats>;
}

const DAY_MS = 86_400_000;

export function createHeartbeatEvents({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): HeartbeatEvents {
  async function mustExist(accountId: string, checkId: string): Promise<void> {
    const found = await findCheck(store, { accountId, id: checkId });
    if (found?.check.checkType !== 'HEARTBEAT') throw notFound('heartbeat check');
  }

  return {
    async list(accountId, checkId, { fromMs, toMs, ...page }) {
      await mustExist(accountId, checkId);
      return listHeartbeatEvents(store, { accountId, checkId, fromMs, toMs, ...rangeOf(page) });
    },

    async read(accountId, checkId, id) {
      await mustExist(accountId, checkId);
      const event = await findHeartbeatEvent(store, { accountId, checkId, id });
      if (event === null) throw notFound('heartbeat event');
      // What happens at this very instant is in it.
      const toMs = clock.wallMs() + 1;
      const spans = [1, 7].flatMap((days) => {
        const fromMs = toMs - days * DAY_MS;
        return [
          { fromMs: fromMs - days * DAY_MS, toMs: fromMs },
          { fromMs, toMs },
        ];
      });
      const counts = await countHeartbeatEvents(store, { accountId, checkId, spans });
      const [dayBefore, day, weekBefore, week] = counts;
      return {
        event,
        stats: { last24Hours: statsOf(dayBefore, day), last7Days: statsOf(weekBefore, week) },
      };
    },
  };
}

const NONE: EventCount = { events: 0, failing: 0, lastState: null };

function statsOf(previous: EventCount = NONE, current: EventCount = NONE): HeartbeatStats {
  return {
    successRatio: { previousPeriod: ratioOf(previous), currentPeriod: ratioOf(current) },
    totalEntitiesCurrentPeriod: current.events,
  };
}

/** Percent of the events that are no failure. Where there are none, it is as it was before. */
function ratioOf({ events, failing, lastState }: EventCount): number {
  if (events === 0) return lastState === 'FAILING' ? 0 : 100;
  return ((events - failing) / events) * 100;
}

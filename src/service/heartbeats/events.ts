import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findCheck } from '../checks/shared.sql.ts';
import type { Store } from '../database/store.ts';
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

/**
 * A recent period and the period of equal length before it: src/service/README.md, "Heartbeats".
 */
export interface HeartbeatStats {
  /** Percent. */
  readonly successRatio: { readonly previousPeriod: number; readonly currentPeriod: number };
  readonly totalEntitiesCurrentPeriod: number;
}

export interface EventWithStats {
  readonly event: HeartbeatEvent;
  /** Up to now, regardless of the event time. */
  readonly stats: { readonly last24Hours: HeartbeatStats; readonly last7Days: HeartbeatStats };
}

export interface HeartbeatEvents {
  /**
   * Newest first; all retained events if no window is given. Epoch milliseconds.
   *
   * @throws ServiceError 404 if the check does not exist or is not a heartbeat
   */
  list(
    accountId: string,
    checkId: string,
    query: Page & { readonly fromMs: number | null; readonly toMs: number | null },
  ): Promise<readonly HeartbeatEvent[]>;
  /** @throws ServiceError 404 */
  read(accountId: string, checkId: string, id: string): Promise<EventWithStats>;
}

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
      // Includes events at this very instant.
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

/** Percent of events without failure. Without events, the previous value. */
function ratioOf({ events, failing, lastState }: EventCount): number {
  if (events === 0) return lastState === 'FAILING' ? 0 : 100;
  return ((events - failing) / events) * 100;
}

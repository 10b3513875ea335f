import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { findCheck } from '../../checks/shared.sql.ts';
import { everyHour } from '../../database/every-hour.ts';
import { removePastRetention } from '../../database/retention.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { queryWindow, type RequestedWindow } from '../../http/resources/window-parameters.ts';
import { deleteAssignedSlotsBefore } from '../intake/assigned-slots.sql.ts';
import { deleteMissedBefore, listMissed, type MissedRow } from './sql.ts';

export type { MissedRow } from './sql.ts';

export interface MissedSlotsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as for results. */
  readonly retentionDays: number;
}

/** The slots that were not run. */
export interface MissedSlotsFeature {
  /**
   * Ranges that touch the window, newest first.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  list(
    accountId: string,
    checkId: string,
    query: Page & RequestedWindow,
  ): Promise<readonly MissedRow[]>;
  /**
   * Deletes missed slots and the history of assigned slots past the retention, about every hour until the
   * signal aborts. Logs failures.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Bounds the time that one statement takes. */
const ROWS_AT_ONCE = 5_000;

export function createMissedSlots(parts: MissedSlotsParts): MissedSlotsFeature {
  const { store, clock, retentionDays } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    // A range with slots in the first day of the retention may begin a day before, and an assignment
    // counts for some minutes after its end (EDGE_MS).
    const withADayMore = { clock, retentionDays: retentionDays + 1 };
    for (const remove of [deleteMissedBefore, deleteAssignedSlotsBefore]) {
      await removePastRetention(withADayMore, ROWS_AT_ONCE, (old) => remove(store, old), signal);
    }
  }

  return {
    async list(accountId, checkId, query) {
      const found = await findCheck(store, { accountId, id: checkId });
      if (found === null) throw notFound('check');
      return listMissed(store, {
        accountId,
        checkId,
        ...queryWindow(query, clock.wallMs()),
        ...rangeOf(query),
      });
    },

    maintain(signal) {
      const failure = 'missed slots past their retention could not be removed';
      return everyHour(parts, failure, () => removeOld(signal), signal);
    },
  };
}

import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { findCheck } from '../../checks/exports.ts';
import type { Store } from '../../database/port.ts';
import { everyHour, removePastRetention } from '../../database/retention.ts';
import { notFound } from '../../errors.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { type AskedWindow, windowOf } from '../../http/resources/window-parameters.ts';
import { deleteAssignedSlotsBefore } from '../intake/assigned-slots.sql.ts';
import { deleteMissedBefore, listMissed, type MissedRow } from './sql.ts';

export type { MissedRow } from './sql.ts';

export interface MissedSlotsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** The slots that were not run. */
export interface MissedSlots {
  /**
   * Ranges that touch the window, newest first.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  list(
    accountId: string,
    checkId: string,
    query: Page & AskedWindow,
  ): Promise<readonly MissedRow[]>;
  /**
   * Now and then, until the signal aborts, removes what is past the retention, with the history of which
   * location was given which slots. Logs what fails.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createMissedSlots(parts: MissedSlotsParts): MissedSlots {
  const { store, clock } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(parts, ROWS_AT_ONCE, (old) => deleteMissedBefore(store, old), signal);
    // No result is left, nor taken, of what ended before that.
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) => deleteAssignedSlotsBefore(store, old),
      signal,
    );
  }

  return {
    async list(accountId, checkId, { limit, page, ...window }) {
      const found = await findCheck(store, { accountId, id: checkId });
      if (found === null) throw notFound('check');
      return listMissed(store, {
        accountId,
        checkId,
        ...windowOf(window, clock.wallMs()),
        ...rangeOf({ limit, page }),
      });
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'missed slots past their retention could not be removed',
        () => removeOld(signal),
        signal,
      );
    },
  };
}

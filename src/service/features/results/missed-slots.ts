import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { notFound } from '../../errors.ts';
import { findCheck } from '../../store/checks.ts';
import { deleteMissedBefore, listMissed, type MissedRow } from '../../store/missed-slots.ts';
import type { Store } from '../../store/port.ts';
import { type Page, rangeOf } from '../paging.ts';
import { type AskedWindow, windowOf } from './time-window.ts';

export type { MissedRow } from '../../store/missed-slots.ts';

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
  /** Now and then, until the signal aborts, removes what is past the retention. Logs what fails. */
  keep(signal: AbortSignal): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createMissedSlots(parts: MissedSlotsParts): MissedSlots {
  const { store, clock, log, retentionDays } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    const beforeMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
    let removed = ROWS_AT_ONCE;
    while (removed === ROWS_AT_ONCE && !signal.aborted) {
      removed = await deleteMissedBefore(store, { beforeMs, limit: ROWS_AT_ONCE });
    }
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

    async keep(signal) {
      do {
        try {
          await removeOld(signal);
        } catch (error) {
          log.warn(`missed slots past their retention could not be removed: ${messageOf(error)}`);
        }
        // Replicas that were started together need not come together each time.
      } while (await sleep(clock, HOUR_MS * (0.5 + Math.random() / 2), signal));
    },
  };
}

import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { type CheckAlert, deleteAlertsBefore, listAlerts } from '../../store/check-alerts.ts';
import type { Store } from '../../store/port.ts';
import { type Page, rangeOf } from '../paging.ts';
import { type AskedWindow, windowOf } from '../results/time-window.ts';

export type { CheckAlert } from '../../store/check-alerts.ts';

export interface CheckAlertsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** The alerts that checks gave: spec 4.6. */
export interface CheckAlerts {
  /** Those that were given in the window, newest first; also of checks that are gone. */
  list(accountId: string, query: Page & AskedWindow): Promise<readonly CheckAlert[]>;
  /** Now and then, until the signal aborts, removes what is past the retention. Logs what fails. */
  keep(signal: AbortSignal): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createCheckAlerts(parts: CheckAlertsParts): CheckAlerts {
  const { store, clock, log, retentionDays } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    const beforeMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
    let removed = ROWS_AT_ONCE;
    while (removed === ROWS_AT_ONCE && !signal.aborted) {
      removed = await deleteAlertsBefore(store, { beforeMs, limit: ROWS_AT_ONCE });
    }
  }

  return {
    async list(accountId, { limit, page, ...window }) {
      return listAlerts(store, {
        accountId,
        ...windowOf(window, clock.wallMs()),
        ...rangeOf({ limit, page }),
      });
    },

    async keep(signal) {
      do {
        try {
          await removeOld(signal);
        } catch (error) {
          log.warn(`alerts past their retention could not be removed: ${messageOf(error)}`);
        }
        // Replicas that were started together need not come together each time.
      } while (await sleep(clock, HOUR_MS * (0.5 + Math.random() / 2), signal));
    },
  };
}

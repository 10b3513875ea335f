import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../database/port.ts';
import { everyHour, removePastRetention } from '../database/retention.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { type AskedWindow, windowOf } from '../http/resources/window-parameters.ts';
import { type CheckAlert, deleteAlertsBefore, listAlerts } from './sql.ts';

export type { CheckAlert } from './sql.ts';

export interface CheckAlertsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** The alerts that checks gave: src/service/README.md, "Alerts". */
export interface CheckAlerts {
  /** Those that were given in the window, newest first; also of checks that are gone. */
  list(accountId: string, query: Page & AskedWindow): Promise<readonly CheckAlert[]>;
  /** Now and then, until the signal aborts, removes what is past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createCheckAlerts(parts: CheckAlertsParts): CheckAlerts {
  const { store, clock } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(parts, ROWS_AT_ONCE, (old) => deleteAlertsBefore(store, old), signal);
  }

  return {
    async list(accountId, { limit, page, ...window }) {
      return listAlerts(store, {
        accountId,
        ...windowOf(window, clock.wallMs()),
        ...rangeOf({ limit, page }),
      });
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'alerts past their retention could not be removed',
        () => removeOld(signal),
        signal,
      );
    },
  };
}

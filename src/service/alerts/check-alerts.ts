import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AccountKey } from '../database/account-key.ts';
import { everyHour } from '../database/every-hour.ts';
import { removePastRetention } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { notFound } from '../errors.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { queryWindow, type RequestedWindow } from '../http/resources/window-parameters.ts';
import {
  type AlertFilter,
  deleteAlertsBefore,
  findAlert,
  type ListedAlert,
  listAlerts,
} from './sql.ts';

export type { ListedAlert } from './sql.ts';

export interface CheckAlertsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

export type AlertQuery = Page &
  RequestedWindow &
  Pick<AlertFilter, 'checkId' | 'alertTypes' | 'isOpen'>;

/** src/service/README.md, "Alerts". */
export interface CheckAlerts {
  /** The alerts of the window, newest first, also those of deleted checks. */
  list(accountId: string, query: AlertQuery): Promise<readonly ListedAlert[]>;
  /** @throws ServiceError 404 for an alert that does not exist */
  read(key: AccountKey): Promise<ListedAlert>;
  /** About every hour, until the signal aborts, deletes alerts past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Bounds how long a statement takes. */
const ROWS_AT_ONCE = 5_000;

export function createCheckAlerts(parts: CheckAlertsParts): CheckAlerts {
  const { store, clock } = parts;

  return {
    async list(accountId, query) {
      const { checkId, alertTypes, isOpen } = query;
      return listAlerts(store, {
        accountId,
        checkId,
        alertTypes,
        isOpen,
        ...queryWindow(query, clock.wallMs()),
        ...rangeOf(query),
      });
    },

    async read(key) {
      const found = await findAlert(store, key);
      if (found === null) throw notFound('alert');
      return found;
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'alerts past their retention could not be removed',
        () =>
          removePastRetention(parts, ROWS_AT_ONCE, (old) => deleteAlertsBefore(store, old), signal),
        signal,
      );
    },
  };
}

import type { Clock } from '../../../../runtime/clock.ts';
import { messageOf } from '../../../../runtime/errors.ts';
import type { Logger } from '../../../../runtime/logger.ts';
import { sleep } from '../../../../runtime/wait.ts';
import { notFound } from '../../../errors.ts';
import { findChannel } from '../../../store/alert-channels.ts';
import {
  type DeliveryState,
  deleteDeliveriesBefore,
  listDeliveries,
  type StoredDelivery,
} from '../../../store/notices.ts';
import type { Store } from '../../../store/port.ts';
import { type Page, rangeOf } from '../../paging.ts';

export type { DeliveryState, StoredDelivery } from '../../../store/notices.ts';

export interface AlertDeliveriesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** What was sent, or is to be. */
export interface AlertDeliveries {
  /**
   * To one channel, newest first.
   *
   * @throws ServiceError 404 for a channel that does not exist
   */
  list(
    accountId: string,
    channelId: number,
    query: Page & { readonly states: readonly DeliveryState[] },
  ): Promise<readonly StoredDelivery[]>;
  /** Now and then, until the signal aborts, removes what is past the retention. Logs what fails. */
  keep(signal: AbortSignal): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createAlertDeliveries(parts: AlertDeliveriesParts): AlertDeliveries {
  const { store, clock, log, retentionDays } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    const beforeMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
    let removed = ROWS_AT_ONCE;
    while (removed === ROWS_AT_ONCE && !signal.aborted) {
      removed = await deleteDeliveriesBefore(store, { beforeMs, limit: ROWS_AT_ONCE });
    }
  }

  return {
    async list(accountId, channelId, { states, ...page }) {
      const found = await findChannel(store, { accountId, id: channelId });
      if (found === null) throw notFound('alert channel');
      return listDeliveries(store, { accountId, channelId, states, ...rangeOf(page) });
    },

    async keep(signal) {
      do {
        try {
          await removeOld(signal);
        } catch (error) {
          log.warn(`deliveries past their retention could not be removed: ${messageOf(error)}`);
        }
        // Replicas that were started together need not come together each time.
      } while (await sleep(clock, HOUR_MS * (0.5 + Math.random() / 2), signal));
    },
  };
}

import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { everyHour, removePastRetention } from '../../database/retention.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { type Caller, covers } from '../../http/access/authenticator.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { findChannel } from '../channels/sql.ts';
import { shownResponse } from './attempt-outcome.ts';
import {
  type DeliveryState,
  deleteDeliveriesBefore,
  listDeliveries,
  type StoredDelivery,
} from './sql.ts';

export type { DeliveryState, StoredDelivery } from './sql.ts';

export interface AlertDeliveriesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** The log of deliveries, sent and pending. */
export interface AlertDeliveries {
  /**
   * The deliveries to one channel, newest first. Only admins see answers: a role that may write
   * channels may name any address, also of servers whose answers it must not read.
   *
   * @throws ServiceError 404 for a channel that does not exist
   */
  list(
    caller: Pick<Caller, 'accountId' | 'role'>,
    channelId: number,
    query: Page & { readonly states: readonly DeliveryState[] },
  ): Promise<readonly StoredDelivery[]>;
  /** About every hour, until the signal aborts, deletes rows past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Bounds how long a statement takes. */
const ROWS_AT_ONCE = 5_000;

export function createAlertDeliveries(parts: AlertDeliveriesParts): AlertDeliveries {
  const { store } = parts;

  return {
    async list({ accountId, role }, channelId, { states, ...page }) {
      const found = await findChannel(store, { accountId, id: channelId });
      if (found === null) throw notFound('alert channel');
      const asked = { accountId, channelId, states, ...rangeOf(page) };
      const deliveries = await listDeliveries(store, asked);
      const seesAnswers = covers(role, 'admin');
      return deliveries.map((delivery) => ({
        ...delivery,
        lastAnswer: seesAnswers ? shownResponse(delivery.lastAnswer) : null,
      }));
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'deliveries past their retention could not be removed',
        () =>
          removePastRetention(
            parts,
            ROWS_AT_ONCE,
            (old) => deleteDeliveriesBefore(store, old),
            signal,
          ),
        signal,
      );
    },
  };
}

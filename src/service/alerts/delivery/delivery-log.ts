import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { everyHour } from '../../database/every-hour.ts';
import { removePastRetention } from '../../database/retention.ts';
import type { Store } from '../../database/store.ts';
import { conflict, notFound } from '../../errors.ts';
import { type Caller, roleCovers } from '../../http/access/caller.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { findChannel } from '../channels/sql.ts';
import { findAlert } from '../sql.ts';
import { shownResponse } from './attempt-outcome.ts';
import {
  type DeliveryKey,
  type DeliveryState,
  deleteDeliveriesBefore,
  findDelivery,
  listDeliveries,
  restartDelivery,
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
   * The deliveries to one channel, newest first. Only admins see the receivers' responses: who may write channels may
   * name any address, including servers whose responses they must not read.
   *
   * @throws ServiceError 404 for a channel that does not exist
   */
  list(
    caller: Pick<Caller, 'accountId' | 'role'>,
    channelId: number,
    query: Page & { readonly states: readonly DeliveryState[] },
  ): Promise<readonly StoredDelivery[]>;
  /**
   * The deliveries of one alert of a check and of its reminders, to all channels.
   *
   * @throws ServiceError 404 for an alert that does not exist
   */
  listOfAlert(
    caller: Pick<Caller, 'accountId' | 'role'>,
    alertId: string,
    page: Page,
  ): Promise<readonly StoredDelivery[]>;
  /**
   * Sends a finished delivery again. It keeps its id, so that receivers can recognise it.
   *
   * @throws ServiceError 404 for a delivery that the channel does not have, 409 for one that is still pending
   */
  resend(
    caller: Pick<Caller, 'accountId' | 'role'>,
    delivery: Pick<DeliveryKey, 'channelId' | 'id'>,
  ): Promise<StoredDelivery>;
  /** About every hour, until the signal aborts, deletes rows past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Bounds how long a statement takes. */
const ROWS_AT_ONCE = 5_000;

export function createAlertDeliveries(parts: AlertDeliveriesParts): AlertDeliveries {
  const { store, clock } = parts;

  return {
    async list({ accountId, role }, channelId, { states, ...page }) {
      const found = await findChannel(store, { accountId, id: channelId });
      if (found === null) throw notFound('alert channel');
      const asked = { accountId, of: { channelId }, states, ...rangeOf(page) };
      return (await listDeliveries(store, asked)).map(seenBy(role));
    },

    async listOfAlert({ accountId, role }, alertId, page) {
      const found = await findAlert(store, { accountId, id: alertId });
      if (found === null) throw notFound('alert');
      const asked = { accountId, of: { alertId }, states: [], ...rangeOf(page) };
      return (await listDeliveries(store, asked)).map(seenBy(role));
    },

    async resend({ accountId, role }, delivery) {
      const key = { accountId, ...delivery };
      return store.transaction(async (tx) => {
        const isRestarted = await restartDelivery(tx, { ...key, atMs: clock.wallMs() });
        const found = await findDelivery(tx, key);
        if (found === null) throw notFound('delivery');
        if (!isRestarted) {
          throw conflict(
            'The delivery is still pending: it can be sent again once it was sent or failed',
          );
        }
        return seenBy(role)(found);
      });
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

function seenBy(role: Caller['role']): (delivery: StoredDelivery) => StoredDelivery {
  const seesAnswers = roleCovers(role, 'admin');
  return (delivery) => ({
    ...delivery,
    lastAnswer: seesAnswers ? shownResponse(delivery.lastAnswer) : null,
  });
}

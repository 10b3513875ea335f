import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../database/port.ts';
import { everyHour, removePastRetention } from '../../database/retention.ts';
import { notFound } from '../../errors.ts';
import { type Caller, covers } from '../../http/access/authenticator.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { findChannel } from '../channels/sql.ts';
import { shownAnswer } from './shown-answer.ts';
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

/** What was sent, or is to be. */
export interface AlertDeliveries {
  /**
   * To one channel, newest first. Answers are given to admins alone: whoever may write a channel
   * may name any address, and what answers there is not theirs to read.
   *
   * @throws ServiceError 404 for a channel that does not exist
   */
  list(
    caller: Pick<Caller, 'accountId' | 'role'>,
    channelId: number,
    query: Page & { readonly states: readonly DeliveryState[] },
  ): Promise<readonly StoredDelivery[]>;
  /** Now and then, until the signal aborts, removes what is past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** So that no statement takes long. */
const ROWS_AT_ONCE = 5_000;

export function createAlertDeliveries(parts: AlertDeliveriesParts): AlertDeliveries {
  const { store } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) => deleteDeliveriesBefore(store, old),
      signal,
    );
  }

  return {
    async list({ accountId, role }, channelId, { states, ...page }) {
      const found = await findChannel(store, { accountId, id: channelId });
      if (found === null) throw notFound('alert channel');
      const asked = { accountId, channelId, states, ...rangeOf(page) };
      const deliveries = await listDeliveries(store, asked);
      const seesAnswers = covers(role, 'admin');
      return deliveries.map((delivery) => ({
        ...delivery,
        lastAnswer: seesAnswers ? shownAnswer(delivery.lastAnswer) : null,
      }));
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'deliveries past their retention could not be removed',
        () => removeOld(signal),
        signal,
      );
    },
  };
}

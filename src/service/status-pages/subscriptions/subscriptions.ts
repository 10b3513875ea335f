import { DAY_MS } from '../../../model/time-units.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { everyHour } from '../../database/every-hour.ts';
import { removeInBatches, removePastRetention } from '../../database/retention.ts';
import { hashOfLinkToken } from '../../users/link-token.ts';
import { openSubscriber } from './address.ts';
import { deleteMessagesBefore } from './messages/deliveries.sql.ts';
import { resealSubscribers } from './reseal.ts';
import {
  changeServicesOf,
  confirmSubscriber,
  deleteSubscriberByToken,
  deleteUnconfirmedBefore,
  findSubscriberByToken,
  lockSubscribersOfPage,
  type PageKey,
  type StoredSubscriber,
  type SubscriberKind,
  type TokenOfPage,
} from './sql.ts';
import {
  type ChosenServices,
  createSubscribe,
  MAX_CONFIRMED,
  pageFull,
  requireServicesOf,
  type Subscribe,
  type SubscribedPage,
  type SubscribeParts,
} from './subscribe.ts';
import { deleteCountsBefore } from './throttle.sql.ts';

const ROWS_AT_ONCE = 1_000;

/** A subscription as its subscriber sees it. */
export interface PageSubscription {
  readonly kind: SubscriberKind;
  readonly address: string;
  readonly isConfirmed: boolean;
  /** null for all services of the page. */
  readonly serviceIds: readonly string[] | null;
}

/** Subscriptions to status pages, as anybody may have them: src/service/README.md, "Subscribers". */
export interface Subscriptions extends Subscribe {
  /** null for a token that names no subscriber of the page. */
  find(page: PageKey, token: string): Promise<PageSubscription | null>;
  /** @throws ServiceError 409 where the page takes no further subscribers */
  confirm(page: PageKey, token: string): Promise<PageSubscription | null>;
  /** @throws ServiceError 400 for services that the page does not have */
  changeServices(
    page: SubscribedPage,
    token: string,
    services: ChosenServices,
  ): Promise<PageSubscription | null>;
  /** Does nothing for a token that names no subscriber. */
  unsubscribe(page: PageKey, token: string): Promise<void>;
  /**
   * Until the signal aborts, deletes what is too old (unconfirmed addresses, counts, messages), and
   * encrypts with the newest key.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

export interface SubscriptionsParts extends SubscribeParts {
  readonly log: Logger;
  /** Whole days, of the messages. */
  readonly retentionDays: number;
}

export function createSubscriptions(parts: SubscriptionsParts): Subscriptions {
  const { store, clock, log, secrets, counters, retentionDays } = parts;

  function tokenOf({ accountId, pageId }: PageKey, token: string): TokenOfPage {
    const unconfirmedSinceMs = clock.wallMs() - DAY_MS;
    return { accountId, pageId, tokenHash: hashOfLinkToken(token), unconfirmedSinceMs };
  }

  function shown(accountId: string, found: StoredSubscriber | null): PageSubscription | null {
    if (found === null || secrets === null) return null;
    const { address } = openSubscriber(secrets, accountId, found);
    const { kind, confirmedAt, serviceIds } = found;
    return { kind, address, isConfirmed: confirmedAt !== null, serviceIds };
  }

  return {
    ...createSubscribe(parts),

    async find(page, token) {
      return shown(page.accountId, await findSubscriberByToken(store, tokenOf(page, token)));
    },

    async confirm(page, token) {
      const named = tokenOf(page, token);
      const found = await store.transaction(async (tx) => {
        const known = await findSubscriberByToken(tx, named);
        if (known === null || known.confirmedAt !== null) return known;
        const counted = await lockSubscribersOfPage(tx, page);
        if (counted === null) return null;
        if (counted.confirmed >= MAX_CONFIRMED) throw pageFull(counters);
        return await confirmSubscriber(tx, { ...named, nowMs: clock.wallMs() });
      });
      return shown(page.accountId, found);
    },

    async changeServices(page, token, services) {
      const serviceIds = requireServicesOf(page, services);
      const found = await changeServicesOf(store, { ...tokenOf(page, token), serviceIds });
      return shown(page.accountId, found);
    },

    unsubscribe: (page, token) => deleteSubscriberByToken(store, tokenOf(page, token)),

    async maintain(signal) {
      const inBatches = (remove: (old: { beforeMs: number; limit: number }) => Promise<number>) => {
        const beforeMs = clock.wallMs() - DAY_MS;
        return removeInBatches(ROWS_AT_ONCE, (limit) => remove({ beforeMs, limit }), signal);
      };
      await everyHour(
        { clock, log },
        'could not delete old subscriptions and messages, or re-encrypt addresses',
        async () => {
          if (secrets !== null) await resealSubscribers({ store, secrets }, signal);
          await inBatches((old) => deleteUnconfirmedBefore(store, old));
          await inBatches((old) => deleteCountsBefore(store, old));
          await removePastRetention(
            { clock, retentionDays },
            ROWS_AT_ONCE,
            (old) => deleteMessagesBefore(store, old),
            signal,
          );
        },
        signal,
      );
    },
  };
}

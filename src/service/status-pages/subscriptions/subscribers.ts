import type { Clock } from '../../../runtime/clock.ts';
import { VedetteError } from '../../../runtime/errors.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { findPage } from '../sql.ts';
import { maskedAddress, openSubscriber } from './address.ts';
import {
  deleteSubscriber,
  findSubscriber,
  listSubscribers,
  type PageKey,
  type StoredSubscriber,
} from './sql.ts';

export const SUBSCRIBER_STATES = ['unconfirmed', 'active', 'suspended'] as const;

/** A subscriber as the account sees it. */
export interface ShownSubscriber
  extends Pick<
    StoredSubscriber,
    'id' | 'kind' | 'serviceIds' | 'confirmedAt' | 'bounces' | 'createdAt'
  > {
  /** null if no key decrypts it. */
  readonly address: string | null;
  readonly state: (typeof SUBSCRIBER_STATES)[number];
  readonly restedUntil: Date | null;
}

/** The subscribers of a page, for its account. */
export interface Subscribers {
  /**
   * Oldest first.
   *
   * @param isMasked whether addresses are shortened
   * @throws ServiceError 404 where there is no such page
   */
  list(page: PageKey, query: Page, isMasked: boolean): Promise<readonly ShownSubscriber[]>;
  /** With a shortened address; null if there is no such subscriber. */
  find(page: PageKey, id: string): Promise<ShownSubscriber | null>;
  /** @throws ServiceError 404 */
  remove(page: PageKey, id: string): Promise<void>;
}

export function createSubscribers({
  store,
  clock,
  secrets,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: SecretBox | null;
}): Subscribers {
  const show = (
    accountId: string,
    subscriber: StoredSubscriber,
    isMasked: boolean,
  ): ShownSubscriber => {
    const { restedUntil, confirmedAt, kind } = subscriber;
    const address = addressOf(secrets, accountId, subscriber);
    const isSuspended = restedUntil !== null && restedUntil.getTime() > clock.wallMs();
    const confirmed = isSuspended ? 'suspended' : 'active';
    return {
      ...subscriber,
      address: address !== null && isMasked ? maskedAddress(kind, address) : address,
      state: confirmedAt === null ? 'unconfirmed' : confirmed,
      restedUntil: isSuspended ? restedUntil : null,
    };
  };
  return {
    async list({ accountId, pageId }, query, isMasked) {
      if ((await findPage(store, { accountId, id: pageId })) === null) {
        throw notFound('status page');
      }
      const found = await listSubscribers(store, { accountId, pageId, ...rangeOf(query) });
      return found.map((each) => show(accountId, each, isMasked));
    },

    async find({ accountId, pageId }, id) {
      const found = await findSubscriber(store, { accountId, pageId, id });
      return found === null ? null : show(accountId, found, true);
    },

    async remove({ accountId, pageId }, id) {
      await store.transaction(async (tx) => {
        const found = await findSubscriber(tx, { accountId, pageId, id });
        const isGone = found === null || !(await deleteSubscriber(tx, { accountId, id }));
        if (isGone) throw notFound('subscriber of the page');
      });
    },
  };
}

function addressOf(
  secrets: SecretBox | null,
  accountId: string,
  subscriber: StoredSubscriber,
): string | null {
  if (secrets === null) return null;
  try {
    return openSubscriber(secrets, accountId, subscriber).address;
  } catch (error) {
    if (error instanceof VedetteError && error.code === 'SECRET_UNREADABLE') return null;
    throw error;
  }
}

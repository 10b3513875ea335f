import { normalizeIP } from '@fastify/rate-limit';
import type { Clock } from '../../../runtime/clock.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { tooManySubscriptions } from '../../errors.ts';
import { throttleAddressOf } from './address.ts';
import type { PageKey, SubscriberKind } from './sql.ts';
import { countRequest } from './throttle.sql.ts';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Most requests of a window. A page must take those of an outage, and a network many people. */
const LIMITS = {
  client: { requests: 20, windowMs: HOUR_MS },
  page: { requests: 500, windowMs: HOUR_MS },
  email: { requests: 3, windowMs: DAY_MS },
  webhook: { requests: 10, windowMs: HOUR_MS },
} as const;

/** Throttles requests to subscribe across replicas. Stores digests only. */
export interface SubscribeThrottle {
  /**
   * Counts the client and the page.
   *
   * @param client its IP address
   * @throws ServiceError 429
   */
  request(page: PageKey, client: string): Promise<void>;
  /**
   * Counts the address, or the host of a webhook.
   *
   * @returns false where it may be sent nothing now; the sender of the request does not learn it
   */
  mayContact(kind: SubscriberKind, address: string): Promise<boolean>;
}

export function createSubscribeThrottle({
  store,
  clock,
  secrets,
  refused,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /** Counts what is refused, by limit. */
  readonly refused: (limit: keyof typeof LIMITS) => void;
}): SubscribeThrottle {
  const isWithin = async (
    kind: keyof typeof LIMITS,
    parts: readonly string[],
  ): Promise<{ readonly isWithin: boolean; readonly endsInMs: number }> => {
    const { requests, windowMs } = LIMITS[kind];
    const [subject] = secrets.digests(JSON.stringify([kind, ...parts]), 'subscribe throttle');
    const nowMs = clock.wallMs();
    const counted = await countRequest(store, { subject, nowMs, windowMs });
    const ok = counted.count <= requests;
    if (!ok) refused(kind);
    return { isWithin: ok, endsInMs: counted.firstAt.getTime() + windowMs - nowMs };
  };
  const require = async (kind: keyof typeof LIMITS, parts: readonly string[]): Promise<void> => {
    const { isWithin: ok, endsInMs } = await isWithin(kind, parts);
    if (!ok) throw tooManySubscriptions(Math.max(1, Math.ceil(endsInMs / 1000)));
  };
  return {
    async request({ accountId, pageId }, client) {
      // The client first: beyond its limit it does not use up that of the page.
      await require('client', [normalizeIP(client)]);
      await require('page', [accountId, pageId]);
    },
    async mayContact(kind, address) {
      return (await isWithin(kind, [throttleAddressOf(kind, address)])).isWithin;
    },
  };
}

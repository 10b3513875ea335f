import { normalizeIP } from '@fastify/rate-limit';
import { DAY_MS, HOUR_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { tooManySubscriptions } from '../../errors.ts';
import { throttleAddressOf } from './address.ts';
import type { PageKey, SubscriberKind } from './sql.ts';
import type { SubscribeLimits } from './subscribe-limits.ts';
import { countRequest } from './throttle.sql.ts';

interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** Maximum number of requests in a window. Allows for many requests during an outage, and for shared networks. */
const FIXED_LIMITS = {
  client: { requests: 20, windowMs: HOUR_MS },
  page: { requests: 500, windowMs: HOUR_MS },
  email: { requests: 3, windowMs: DAY_MS },
  webhook: { requests: 10, windowMs: HOUR_MS },
} as const satisfies Readonly<Record<string, Limit>>;

type LimitName = keyof typeof FIXED_LIMITS | 'account' | 'service';

/** Throttles requests to subscribe across replicas. Stores digests only. */
export interface SubscribeThrottle {
  /**
   * Counts the client, the page, its account and the service.
   *
   * @param client its IP address
   * @throws ServiceError 429
   */
  request(page: PageKey, client: string): Promise<void>;
  /**
   * Counts the address, or the host of a webhook.
   *
   * @returns false if nothing may be sent to it now; the client is not told
   */
  mayContact(kind: SubscriberKind, address: string): Promise<boolean>;
}

export interface SubscribeThrottleParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly limits: SubscribeLimits;
  /** Counts what is refused, by limit. */
  readonly refused: (limit: LimitName) => void;
}

export function createSubscribeThrottle({
  store,
  clock,
  secrets,
  limits: { perAccountDay, perHour },
  refused,
}: SubscribeThrottleParts): SubscribeThrottle {
  const limits: Readonly<Record<LimitName, Limit>> = {
    ...FIXED_LIMITS,
    account: { requests: perAccountDay, windowMs: DAY_MS },
    service: { requests: perHour, windowMs: HOUR_MS },
  };

  /** @param subject what is counted; empty for the service */
  const count = async (
    name: LimitName,
    subject: readonly string[],
  ): Promise<{ readonly isWithin: boolean; readonly endsInMs: number }> => {
    const { requests, windowMs } = limits[name];
    const [digest] = secrets.digests(JSON.stringify([name, ...subject]), 'subscribe throttle');
    const nowMs = clock.wallMs();
    const counted = await countRequest(store, { subject: digest, nowMs, windowMs });
    const isWithin = counted.count <= requests;
    if (!isWithin) refused(name);
    return { isWithin, endsInMs: counted.firstAt.getTime() + windowMs - nowMs };
  };

  const requireWithin = async (name: LimitName, subject: readonly string[]): Promise<void> => {
    const { isWithin, endsInMs } = await count(name, subject);
    if (!isWithin) throw tooManySubscriptions(Math.max(1, Math.ceil(endsInMs / 1000)));
  };

  return {
    async request({ accountId, pageId }, client) {
      // Checks the narrowest limit first, so that refused requests do not count for the wider limits.
      await requireWithin('client', [normalizeIP(client)]);
      await requireWithin('page', [accountId, pageId]);
      await requireWithin('account', [accountId]);
      await requireWithin('service', []);
    },
    async mayContact(kind, address) {
      return (await count(kind, [throttleAddressOf(kind, address)])).isWithin;
    },
  };
}

import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { AddressGuard } from '../../../runtime/net/address-guard.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { NO_OUTGOING, type OutgoingConfig } from '../../outgoing/outgoing-config.ts';
import { SubscriptionCounters, type SubscriptionCounts } from './counts.ts';
import { createMessageSender } from './messages/message-sender.ts';
import { runMessageWorker } from './messages/message-worker.ts';
import { publicAddresses } from './public-addresses.ts';
import { DEFAULT_SUBSCRIBE_LIMITS, type SubscribeLimits } from './subscribe-limits.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';
import { createSubscriptions, type Subscriptions } from './subscriptions.ts';

export interface SubscriptionFeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly secrets: SecretBox | null;
  /** Whole days, of the messages. */
  readonly retentionDays: number;
  /** undefined: no mail. */
  readonly delivery: OutgoingConfig | undefined;
  readonly publicUrl: string | null;
  /** Addresses that webhooks may have. undefined: public ones, without those of DELIVERY_DENY. */
  readonly webhookGuard: AddressGuard | undefined;
  /** undefined: the defaults. */
  readonly limits: SubscribeLimits | undefined;
}

export interface SubscriptionFeatures {
  readonly subscriptions: Subscriptions;
  readonly subscribers: Subscribers;
  /** Each runs until the signal aborts: messages of each kind, retention. */
  readonly subscriptionKeepers: readonly ((signal: AbortSignal) => Promise<void>)[];
  subscriptionCounts(): SubscriptionCounts;
}

export function createSubscriptionFeatures({
  delivery = NO_OUTGOING,
  webhookGuard,
  limits = DEFAULT_SUBSCRIBE_LIMITS,
  ...parts
}: SubscriptionFeatureParts): SubscriptionFeatures {
  const { secrets } = parts;
  const counters = new SubscriptionCounters();
  const guard = webhookGuard ?? publicAddresses(delivery.deny);
  const sender =
    secrets === null ? null : createMessageSender({ ...parts, ...delivery, secrets, guard });
  const subscriptions = createSubscriptions({ ...parts, sender, counters, limits });
  const send = async (signal: AbortSignal): Promise<void> => {
    if (sender === null) return;
    const worker = { ...parts, sender, counters };
    await Promise.all([
      runMessageWorker(worker, 'email', signal),
      runMessageWorker(worker, 'webhook', signal),
    ]);
    await sender.close();
  };
  return {
    subscriptions,
    subscribers: createSubscribers(parts),
    subscriptionKeepers: [send, subscriptions.maintain],
    subscriptionCounts: () => counters.read(),
  };
}

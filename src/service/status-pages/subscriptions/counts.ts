import { MESSAGE_RESULTS, type MessageResult } from './messages/message-outcome.ts';
import type { SubscriberKind } from './sql.ts';

/** Why the service removed subscribers. */
const REMOVALS = ['bounced', 'gone', 'failing'] as const;
export type Removal = (typeof REMOVALS)[number];

/** Why a request to subscribe was refused: by a limit, or because a webhook did not confirm. */
const REFUSALS = [
  'client',
  'page',
  'account',
  'service',
  'email',
  'webhook',
  'full',
  'challenge',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What this process has counted since its start. */
export interface SubscriptionCounts {
  readonly messages: Readonly<Record<SubscriberKind, Readonly<Record<MessageResult, number>>>>;
  readonly removed: Readonly<Record<Removal, number>>;
  readonly refused: Readonly<Record<Refusal, number>>;
}

export class SubscriptionCounters {
  readonly #messages = { email: zeros(MESSAGE_RESULTS), webhook: zeros(MESSAGE_RESULTS) };
  readonly #removed = zeros(REMOVALS);
  readonly #refused = zeros(REFUSALS);

  message(kind: SubscriberKind, result: MessageResult, count = 1): void {
    this.#messages[kind][result] += count;
  }

  removed(reason: Removal): void {
    this.#removed[reason] += 1;
  }

  readonly refused = (reason: Refusal): void => {
    this.#refused[reason] += 1;
  };

  read(): SubscriptionCounts {
    return { messages: this.#messages, removed: this.#removed, refused: this.#refused };
  }
}

export const NO_SUBSCRIPTION_COUNTS: SubscriptionCounts = new SubscriptionCounters().read();

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

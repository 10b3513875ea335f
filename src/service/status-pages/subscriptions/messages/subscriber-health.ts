import { DAY_MS } from '../../../../model/time-units.ts';
import type { Sql } from '../../../database/store.ts';
import type { Removal } from '../counts.ts';
import { deleteSubscriber } from '../sql.ts';
import { type ClaimedMessage, failWaitingMessages } from './deliveries.sql.ts';
import type { Attempt, FailureCause } from './message-outcome.ts';
import { type FailingSubscriber, recordArrival, recordFailure } from './subscriber-health.sql.ts';

/** How long an address gets nothing after it refused a message for good. */
const REST_MS = DAY_MS;
/** Consecutive refusals after which a confirmed subscriber is removed. */
const MAX_BOUNCES = 3;
/** A receiver that has failed for this time and for this many messages is removed. */
const MAX_FAILING_MS = 14 * DAY_MS;
const MIN_FAILURES = 5;

export interface HealthChange {
  readonly removal: Removal | null;
  readonly failed: number;
}

export const NOTHING_CHANGED: HealthChange = { removal: null, failed: 0 };

/**
 * Updates the subscriber after an attempt: suspends an address that refused, removes an unreachable
 * subscriber. Nobody is removed for a failure of the service or its mail server.
 *
 * @returns why it removed the subscriber, null if it did not; and how many waiting messages it failed
 */
export async function recordHealth(
  tx: Sql,
  { accountId, subscriberId, isConfirmed }: ClaimedMessage,
  { sent, cause }: Attempt,
  atMs: number,
): Promise<HealthChange> {
  const subscriber = { accountId, id: subscriberId };
  if (sent.ok) {
    await recordArrival(tx, subscriber);
    return NOTHING_CHANGED;
  }
  if (cause === null || cause === 'service') return NOTHING_CHANGED;
  const isBounce = cause === 'bounce';
  const restedUntilMs = isBounce ? atMs + REST_MS : null;
  const failure = await recordFailure(tx, { ...subscriber, atMs, restedUntilMs });
  if (failure === null) return NOTHING_CHANGED;
  const removal = removalOf(failure, { cause, isConfirmed, atMs });
  if (removal !== null) await deleteSubscriber(tx, subscriber);
  if (removal !== null || !isBounce) return { removal, failed: 0 };
  return { removal, failed: await failWaitingMessages(tx, { accountId, subscriberId, atMs }) };
}

function removalOf(
  { bounces, failures, failingSince }: FailingSubscriber,
  {
    cause,
    isConfirmed,
    atMs,
  }: {
    readonly cause: FailureCause;
    readonly isConfirmed: boolean;
    readonly atMs: number;
  },
): Removal | null {
  if (cause === 'gone') return 'gone';
  if (cause === 'bounce' && (!isConfirmed || bounces >= MAX_BOUNCES)) return 'bounced';
  const isFailing = failures >= MIN_FAILURES && atMs - failingSince.getTime() >= MAX_FAILING_MS;
  return isFailing ? 'failing' : null;
}

import { DAY_MS } from '../../../../model/time-units.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { messageOf } from '../../../../runtime/errors.ts';
import type { Logger } from '../../../../runtime/logger.ts';
import type { Store } from '../../../database/store.ts';
import { ClaimLoop, tooManyClaims } from '../../../outbox/claim-loop.ts';
import { NameCounts } from '../../../outbox/name-counts.ts';
import { type AttemptOutcome, recordAttempt } from '../../../outbox/shared.sql.ts';
import { notSent, SEND_LIMIT_MS } from '../../../outgoing/send-outcome.ts';
import type { SubscriptionCounters } from '../counts.ts';
import type { SubscriberKind } from '../sql.ts';
import {
  type AnnouncedUpdate,
  advanceAnnouncement,
  insertDeliveriesOf,
  lockAnnouncement,
  MESSAGES_CHANNEL,
  readAnnouncedUpdate,
} from './announcements.sql.ts';
import { type ClaimedMessage, claimMessages, nextMessageAtMs } from './deliveries.sql.ts';
import { type Attempt, failedByService, outcomeOfMessage } from './message-outcome.ts';
import { MAX_SENDING, type MessageSender } from './message-sender.ts';
import { NOTHING_CHANGED, recordHealth } from './subscriber-health.ts';

export interface MessageWorkerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sender: Pick<MessageSender, 'send'>;
  readonly counters: SubscriptionCounters;
}

/** Claimed at once, in total and per account. The lease covers the wait for other messages. */
const MAX_CLAIMED: Readonly<Record<SubscriberKind, number>> = { email: 80, webhook: 50 };
const MAX_PER_ACCOUNT: Readonly<Record<SubscriberKind, number>> = { email: 60, webhook: 25 };
/** Longer than two attempts, one after the other, and the storage of the outcome can take. */
const LEASE_MS = 2 * SEND_LIMIT_MS + 40_000;

/** Older updates are not sent, for example after the service was down for days. */
const MAX_AGE_MS = DAY_MS;
/** Subscribers of a transaction: bounds how long it takes. */
const SUBSCRIBERS_AT_ONCE = 1_000;

/**
 * Sends the messages of the kind until the signal aborts: creates the deliveries of announced updates, then sends
 * those that are due. Messages to one subscriber keep their order.
 */
export async function runMessageWorker(
  parts: MessageWorkerParts,
  kind: SubscriberKind,
  signal: AbortSignal,
): Promise<void> {
  const { store, ids, sender } = parts;
  const owner = ids();
  const accounts = new NameCounts();
  let updates = new UpdateReader(store);
  const loop = new ClaimLoop<ClaimedMessage, Attempt | null>({
    ...parts,
    channel: MESSAGES_CHANNEL,
    words: { all: 'messages to subscribers', one: 'a message to a subscriber' },
    maxSending: MAX_SENDING[kind],
    maxClaimed: MAX_CLAIMED[kind],
    // Each claim looks through many messages, so it is for many of them.
    minClaim: MAX_CLAIMED[kind] / 2,
    prepare: () => fanOut(parts),
    async claim(query) {
      const claimed = await claimMessages(store, {
        ...query,
        kind,
        owner,
        leaseMs: LEASE_MS,
        perAccount: MAX_PER_ACCOUNT[kind],
        busyAccounts: accounts.counts(),
      });
      for (const { accountId } of claimed) accounts.add(accountId);
      updates = new UpdateReader(store);
      return claimed;
    },
    nextDueAtMs: (atMs) => nextMessageAtMs(store, { kind, atMs }),
    send: (message, cut) => sendOnce(message, { sender, updates, cut }),
    record: (message, attempt, at) => record(parts, { owner, message, attempt, ...at }),
    onEnd: ({ accountId }) => accounts.remove(accountId),
  });
  await loop.run(signal);
}

/** null if the message is no longer to be sent. */
async function sendOnce(
  message: ClaimedMessage,
  {
    sender,
    updates,
    cut,
  }: Pick<MessageWorkerParts, 'sender'> & {
    readonly updates: UpdateReader;
    readonly cut: AbortSignal;
  },
): Promise<Attempt | null> {
  const givenUp = tooManyClaims(message);
  if (givenUp !== null) return failedByService(givenUp);
  const { updateId } = message;
  if (updateId === null) return await sender.send(message, null, cut);
  try {
    const update = await updates.read({ ...message, updateId });
    return update === null ? null : await sender.send(message, update, cut);
  } catch (error) {
    return failedByService(notSent(`the update could not be read: ${messageOf(error)}`));
  }
}

async function record(
  { store, counters }: MessageWorkerParts,
  {
    owner,
    message,
    attempt,
    atMs,
    wasCut,
  }: {
    readonly owner: string;
    readonly message: ClaimedMessage;
    /** null if the message is no longer to be sent. */
    readonly attempt: Attempt | null;
    readonly atMs: number;
    readonly wasCut: boolean;
  },
): Promise<void> {
  const { id, kind } = message;
  const outcome =
    attempt === null
      ? WITHDRAWN
      : outcomeOfMessage(attempt, { attempt: message.attempt, wasCut, atMs });
  const recorded = {
    outbox: 'status_page_deliveries' as const,
    id,
    owner,
    attempt: message.attempt,
    atMs,
    outcome,
  };
  if (outcome.state === 'sent' && message.isHealthy) {
    // Most messages: nothing changes for their subscribers.
    if (await recordAttempt(store, recorded)) counters.message(kind, 'sent');
    return;
  }
  const stored = await store.transaction(async (tx) => {
    if (!(await recordAttempt(tx, recorded))) return null;
    const isOver = attempt !== null && outcome.state !== 'waiting';
    return isOver ? await recordHealth(tx, message, attempt, atMs) : NOTHING_CHANGED;
  });
  if (stored === null) return;
  if (stored.removal !== null) counters.removed(stored.removal);
  // Messages that waited behind it.
  counters.message(kind, 'failed', stored.failed);
  if (outcome.state === 'waiting') return;
  if (attempt === null) counters.message(kind, 'withdrawn');
  else if (attempt.cause === 'bounce') counters.message(kind, 'bounced');
  else counters.message(kind, outcome.state);
}

/**
 * Creates the deliveries of the oldest announcement for its next subscribers. Any replica can continue: the
 * announcement stores its progress in the same transaction.
 *
 * @returns whether there was one
 */
function fanOut({ store, clock, log }: MessageWorkerParts): Promise<boolean> {
  return store.transaction(async (tx) => {
    const announcement = await lockAnnouncement(tx);
    if (announcement === null) return false;
    const atMs = clock.wallMs();
    const limit = SUBSCRIBERS_AT_ONCE;
    if (atMs - announcement.createdAt.getTime() > MAX_AGE_MS) {
      const { accountId, updateId, deliveredTo } = announcement;
      log.warn(
        { accountId, updateId, deliveredTo },
        'an update of an incident is more than a day old, so its other subscribers get no message',
      );
      await advanceAnnouncement(tx, { ...announcement, finishedAtMs: atMs });
      return true;
    }
    const { found, last } = await insertDeliveriesOf(tx, { ...announcement, atMs, limit });
    const finishedAtMs = found < limit ? atMs : null;
    await advanceAnnouncement(tx, { ...announcement, deliveredTo: last, finishedAtMs });
    return true;
  });
}

/** Reads an update once for all messages of a claim. */
class UpdateReader {
  readonly #store: Store;
  readonly #reading = new Map<string, Promise<AnnouncedUpdate | null>>();

  constructor(store: Store) {
    this.#store = store;
  }

  read(of: Parameters<typeof readAnnouncedUpdate>[1]): Promise<AnnouncedUpdate | null> {
    const key = `${of.pageId} ${of.updateId}`;
    const known = this.#reading.get(key);
    if (known !== undefined) return known;
    const reading = readAnnouncedUpdate(this.#store, of);
    this.#reading.set(key, reading);
    return reading;
  }
}

const WITHDRAWN: AttemptOutcome = {
  state: 'failed',
  dueAtMs: null,
  status: null,
  error: 'the update was withdrawn before it was sent',
};

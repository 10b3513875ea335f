import PQueue from 'p-queue';
import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import { NameCounts } from '../../alerts/delivery/name-counts.ts';
import { notSent } from '../../alerts/delivery/outcome.ts';
import { SEND_LIMIT_MS } from '../../alerts/delivery/sender.ts';
import type { Sql, Store } from '../../database/store.ts';
import {
  type AnnouncedUpdate,
  advanceAnnouncement,
  insertDeliveriesOf,
  lockAnnouncement,
  MESSAGES_CHANNEL,
  readAnnouncedUpdate,
} from './announcements.sql.ts';
import type { Removal, SubscriptionCounters } from './counts.ts';
import {
  type ClaimedMessage,
  claimMessages,
  failWaitingMessages,
  type MessageOutcome,
  nextMessageAtMs,
  recordMessage,
} from './deliveries.sql.ts';
import { type Attempted, outcomeOfMessage } from './message-outcome.ts';
import type { MessageSender } from './message-sender.ts';
import { deleteSubscriber, recordArrival, recordFailure, type SubscriberKind } from './sql.ts';

export interface MessageWorkerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly sender: Pick<MessageSender, 'send'>;
  readonly counters: SubscriptionCounters;
}

/** At once in this process. Many mail servers take at most 50 connections of a client. */
const MAX_SENDING: Readonly<Record<SubscriberKind, number>> = { email: 40, webhook: 50 };
/** Claimed at once, for all accounts and for one. Those that wait for others have time in their lease. */
const MAX_CLAIMED: Readonly<Record<SubscriberKind, number>> = { email: 80, webhook: 50 };
const MAX_PER_ACCOUNT: Readonly<Record<SubscriberKind, number>> = { email: 60, webhook: 25 };
/** Longer than two attempts, one after the other, and the storage of the outcome can take. */
const LEASE_MS = 2 * SEND_LIMIT_MS + 40_000;
/** For what no notification announces: a retry that is due, an expired lease, a lost notification. */
const POLL_EVERY_MS = 5_000;
const MAX_BACK_OFF_MS = 30_000;
/** When the service stops, attempts in flight may end within this time. */
const GRACE_MS = 3_000;
/** Claims of one message: stops a message that crashes the process each time. */
const MAX_CLAIMS = 20;
const RECORD_TRIES = 5;
const RECORD_AGAIN_MS = 2_000;

const DAY_MS = 86_400_000;
/** Older news help nobody, for example after the service was away for days. */
const MAX_AGE_MS = DAY_MS;
/** Subscribers of a transaction: bounds how long it takes. */
const SUBSCRIBERS_AT_ONCE = 1_000;

/** How long an address gets nothing after it refused a message for good. */
const REST_MS = DAY_MS;
/** So many in a row remove it. */
const MAX_BOUNCES = 3;
/** A subscriber whom no message has reached for as long is removed at the next failure. */
const MAX_FAILING_MS = 14 * DAY_MS;

/**
 * Sends the messages to subscribers until the signal aborts: first makes the deliveries of announced
 * updates, then sends those of the kind, claimed with a lease as those of alerts are. Where the
 * process ends in between, another one sends the message again after the lease.
 *
 * Backs off while the database is away, up to 30 s.
 */
export async function runMessageWorker(
  parts: MessageWorkerParts,
  kind: SubscriberKind,
  signal: AbortSignal,
): Promise<void> {
  await new MessageWorker(parts, kind).run(signal);
}

class MessageWorker {
  readonly #parts: MessageWorkerParts;
  readonly #kind: SubscriberKind;
  readonly #owner: string;
  readonly #wake = new WakeSignal();
  readonly #queue: PQueue;
  readonly #accounts = new NameCounts();
  /** Aborts the attempts in flight, GRACE_MS after the stop. */
  readonly #cut = new AbortController();
  /** Epoch milliseconds. Messages due by then are claimed, as far as the capacity allows. */
  #claimedAtMs = 0;

  constructor(parts: MessageWorkerParts, kind: SubscriberKind) {
    this.#parts = parts;
    this.#kind = kind;
    this.#owner = parts.ids();
    this.#queue = new PQueue({ concurrency: MAX_SENDING[kind] });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const endListening = await this.#listen();
    const backoff = new Backoff({ minMs: POLL_EVERY_MS * 2, maxMs: MAX_BACK_OFF_MS });
    let isFailing = false;
    while (!signal.aborted) {
      let waitMs = POLL_EVERY_MS;
      try {
        const isAnnounced = await fanOut(this.#parts);
        if ((await this.#claim()) > 0 || isAnnounced) continue;
        waitMs = await this.#untilNextMs();
        backoff.reset();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) {
          log.warn(`messages to subscribers cannot be sent now: ${messageOf(error)}`);
        }
        isFailing = true;
        waitMs = backoff.next();
      }
      // Zero: a message came due meanwhile.
      if (waitMs > 0) await this.#wake.wait(clock, waitMs, signal);
    }
    await this.#finish();
    await endListening();
  }

  /** Where it fails, messages wait for the next poll. */
  async #listen(): Promise<() => Promise<void>> {
    const { store, log } = this.#parts;
    try {
      return await store.listen(MESSAGES_CHANNEL, this.#wake.ring);
    } catch (error) {
      log.warn(
        `falling back to polling for messages to subscribers every few seconds: ${messageOf(error)}`,
      );
      return async () => {};
    }
  }

  /** @returns how many messages it began to send */
  async #claim(): Promise<number> {
    const { store, clock } = this.#parts;
    const capacity = MAX_CLAIMED[this.#kind] - this.#queue.pending - this.#queue.size;
    // Each claim looks through many messages, so it is for many of them.
    if (capacity < MAX_CLAIMED[this.#kind] / 2) return 0;
    this.#claimedAtMs = clock.wallMs();
    const claimed = await claimMessages(store, {
      kind: this.#kind,
      owner: this.#owner,
      atMs: this.#claimedAtMs,
      leaseMs: LEASE_MS,
      limit: capacity,
      perAccount: MAX_PER_ACCOUNT[this.#kind],
      busyAccounts: this.#accounts.counts(),
    });
    const updates = new UpdateReader(store);
    for (const message of claimed) {
      this.#accounts.add(message.accountId);
      void this.#queue.add(() => this.#deliver(message, updates));
    }
    return claimed.length;
  }

  /** The time until the next retry of any process is due; at most until the next poll. */
  async #untilNextMs(): Promise<number> {
    const { store, clock } = this.#parts;
    // Messages that came due after the last claim are still unclaimed.
    const at = { kind: this.#kind, atMs: this.#claimedAtMs };
    const nextAtMs = await nextMessageAtMs(store, at);
    if (nextAtMs === null) return POLL_EVERY_MS;
    return Math.min(POLL_EVERY_MS, Math.max(0, nextAtMs - clock.wallMs()));
  }

  async #deliver(message: ClaimedMessage, updates: UpdateReader): Promise<void> {
    try {
      const attempted = await this.#attempt(message, updates);
      await this.#record(message, attempted);
    } finally {
      this.#accounts.remove(message.accountId);
      // The next message to the subscriber may wait for this one.
      this.#wake.ring();
    }
  }

  /** null where the message is no longer to be sent. */
  async #attempt(message: ClaimedMessage, updates: UpdateReader): Promise<Attempted | null> {
    const { sender } = this.#parts;
    if (message.attempt > MAX_CLAIMS) {
      const error = 'the service ended each time while it was being sent';
      return { sent: notSent(error, { isFinal: true }), isBounce: false, isGone: false };
    }
    const { updateId } = message;
    if (updateId === null) return await sender.send(message, null, this.#cut.signal);
    try {
      const update = await updates.read({ ...message, updateId });
      return update === null ? null : await sender.send(message, update, this.#cut.signal);
    } catch (error) {
      const sent = notSent(`the update could not be read: ${messageOf(error)}`);
      return { sent, isBounce: false, isGone: false };
    }
  }

  async #record(message: ClaimedMessage, attempted: Attempted | null): Promise<void> {
    const { clock, log } = this.#parts;
    for (let tries = 1; tries <= RECORD_TRIES; tries += 1) {
      try {
        await this.#store(message, attempted, clock.wallMs());
        return;
      } catch (error) {
        if (tries < RECORD_TRIES && (await sleep(clock, RECORD_AGAIN_MS, this.#cut.signal)))
          continue;
        log.warn(
          { deliveryId: message.id },
          `the outcome of a message to a subscriber could not be saved, so it will be sent again: ${messageOf(error)}`,
        );
        return;
      }
    }
  }

  async #store(message: ClaimedMessage, attempted: Attempted | null, atMs: number): Promise<void> {
    const { store, counters } = this.#parts;
    const { id, attempt, kind } = message;
    const wasCut = attempted !== null && !attempted.sent.ok && this.#cut.signal.aborted;
    const outcome =
      attempted === null ? WITHDRAWN : outcomeOfMessage(attempted, { attempt, wasCut, atMs });
    const recorded = { id, owner: this.#owner, attempt, atMs, outcome };
    if (outcome.state === 'sent' && message.isHealthy) {
      // Most messages: nothing changes for their subscribers.
      if (await recordMessage(store, recorded)) counters.message(kind, 'sent');
      return;
    }
    const stored = await store.transaction(async (tx) => {
      if (!(await recordMessage(tx, recorded))) return null;
      const isOver = attempted !== null && outcome.state !== 'waiting';
      return { removal: isOver ? await recordHealth(tx, message, attempted, atMs) : null };
    });
    if (stored === null) return;
    if (stored.removal !== null) counters.removed(stored.removal);
    if (outcome.state === 'waiting') return;
    if (attempted === null) counters.message(kind, 'withdrawn');
    else if (attempted.isBounce) counters.message(kind, 'bounced');
    else counters.message(kind, outcome.state);
  }

  async #finish(): Promise<void> {
    const cancel = this.#parts.clock.after(GRACE_MS, () => this.#cut.abort());
    await this.#queue.onIdle();
    cancel();
  }
}

/**
 * Makes the deliveries of the oldest announcement to its next subscribers. Any replica may do each
 * part: the announcement says how far it is, in the transaction that makes them.
 *
 * @returns whether there was one
 */
function fanOut({ store, clock }: MessageWorkerParts): Promise<boolean> {
  return store.transaction(async (tx) => {
    const announcement = await lockAnnouncement(tx);
    if (announcement === null) return false;
    const atMs = clock.wallMs();
    const limit = SUBSCRIBERS_AT_ONCE;
    if (atMs - announcement.createdAt.getTime() > MAX_AGE_MS) {
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

const WITHDRAWN: MessageOutcome = {
  state: 'failed',
  dueAtMs: null,
  status: null,
  error: 'the update was withdrawn before it was sent',
};

/**
 * Stores what a message says of its subscriber: lets an address rest that refuses messages, and removes
 * a subscriber who cannot or does not want to be reached.
 *
 * @returns why it removed the subscriber; null where it did not
 */
async function recordHealth(
  tx: Sql,
  { accountId, subscriberId, isConfirmed }: ClaimedMessage,
  { sent, isBounce, isGone }: Attempted,
  atMs: number,
): Promise<Removal | null> {
  const subscriber = { accountId, id: subscriberId };
  if (sent.ok) {
    await recordArrival(tx, subscriber);
    return null;
  }
  const restedUntilMs = isBounce ? atMs + REST_MS : null;
  const failure = await recordFailure(tx, { ...subscriber, atMs, restedUntilMs });
  if (failure === null) return null;
  const reason = removalOf(failure, { isBounce, isGone, isConfirmed, atMs });
  if (reason !== null) await deleteSubscriber(tx, subscriber);
  else if (isBounce) await failWaitingMessages(tx, { accountId, subscriberId, atMs });
  return reason;
}

function removalOf(
  { bounces, failingSince }: { readonly bounces: number; readonly failingSince: Date },
  {
    isBounce,
    isGone,
    isConfirmed,
    atMs,
  }: Pick<Attempted, 'isBounce' | 'isGone'> & {
    readonly isConfirmed: boolean;
    readonly atMs: number;
  },
): Removal | null {
  if (isGone) return 'gone';
  if (isBounce && (!isConfirmed || bounces >= MAX_BOUNCES)) return 'bounced';
  return atMs - failingSince.getTime() >= MAX_FAILING_MS ? 'failing' : null;
}

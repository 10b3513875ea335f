import PQueue from 'p-queue';
import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import type { Store } from '../../database/port.ts';
import type { AlertNotice } from '../notice.ts';
import { NameCounts } from './name-counts.ts';
import { notSent, type SendOutcome } from './outcome.ts';
import { outcomeOfAttempt } from './retry-rule.ts';
import { type SealedSending, sendSealed } from './send-sealed.ts';
import { SEND_LIMIT_MS } from './sender.ts';
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  NOTICES_CHANNEL,
  nextDueAtMs,
  recordAttempt,
} from './sql.ts';

export interface DeliveryWorkerParts extends SealedSending {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** At once: of this process, to one channel, and for one account, so that none keeps others waiting. */
const MAX_SENDING = 100;
const MAX_PER_CHANNEL = 4;
const MAX_PER_ACCOUNT = 40;
/** Longer than sending and noting what came of it can take. */
const LEASE_MS = SEND_LIMIT_MS + 40_000;
/** For what nobody told of: a retry that is due, a lease that is over, a word that got lost. */
const LOOK_EVERY_MS = 5_000;
const MAX_BACK_OFF_MS = 30_000;
/** What is being sent when the service stops may end, for as long. */
const GRACE_MS = 3_000;
/** What ends the process each time must not do so for ever. */
const MAX_TAKEN = 20;
const RECORD_TRIES = 5;
const RECORD_AGAIN_MS = 2_000;

/**
 * Sends what is in the outbox, until the signal aborts. Each delivery is taken with a lease, sent
 * outside of any transaction, and what came of it is noted; where this process ends in between, it
 * is sent again after the lease: at least once, and as a rule once. Of a check's notices to a
 * channel, each waits until the one before it is sent or has failed for good.
 *
 * Backs off while the database is away, up to 30 s.
 */
export async function runDeliveryWorker(
  parts: DeliveryWorkerParts,
  signal: AbortSignal,
): Promise<void> {
  const worker = new DeliveryWorker(parts);
  await worker.run(signal);
}

class DeliveryWorker {
  readonly #parts: DeliveryWorkerParts;
  readonly #owner: string;
  readonly #bell = new WakeSignal();
  readonly #queue = new PQueue({ concurrency: MAX_SENDING });
  readonly #channels = new NameCounts();
  readonly #accounts = new NameCounts();
  /** Aborts what is being sent, some time after the service was told to stop. */
  readonly #cut = new AbortController();
  /** Epoch milliseconds: what was due then is taken, as far as there is room. */
  #lookedAtMs = 0;

  constructor(parts: DeliveryWorkerParts) {
    this.#parts = parts;
    this.#owner = parts.ids();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const endListening = await this.#listen();
    const backoff = new Backoff({ minMs: LOOK_EVERY_MS * 2, maxMs: MAX_BACK_OFF_MS });
    let hadFault = false;
    while (!signal.aborted) {
      let waitMs = LOOK_EVERY_MS;
      try {
        if ((await this.#take()) > 0) continue;
        waitMs = await this.#untilNextMs();
        backoff.reset();
        hadFault = false;
      } catch (error) {
        if (!hadFault && !signal.aborted) {
          log.warn(`notices cannot be sent now: ${messageOf(error)}`);
        }
        hadFault = true;
        waitMs = backoff.next();
      }
      // Nothing to wait for: it came due meanwhile.
      if (waitMs > 0) await this.#bell.wait(clock, waitMs, signal);
    }
    await this.#finish();
    await endListening();
  }

  /** Without it notices wait for the next look, which is not worth ending over. */
  async #listen(): Promise<() => Promise<void>> {
    const { store, log } = this.#parts;
    try {
      return await store.listen(NOTICES_CHANNEL, this.#bell.ring);
    } catch (error) {
      log.warn(`falling back to polling for new notices every few seconds: ${messageOf(error)}`);
      return async () => {};
    }
  }

  /** @returns how many it began to send */
  async #take(): Promise<number> {
    const { store, clock } = this.#parts;
    const room = MAX_SENDING - this.#queue.pending - this.#queue.size;
    if (room <= 0) return 0;
    this.#lookedAtMs = clock.wallMs();
    const claimed = await claimDeliveries(store, {
      owner: this.#owner,
      atMs: this.#lookedAtMs,
      leaseMs: LEASE_MS,
      limit: room,
      perChannel: MAX_PER_CHANNEL,
      perAccount: MAX_PER_ACCOUNT,
      busyChannels: this.#channels.counts(),
      busyAccounts: this.#accounts.counts(),
    });
    for (const one of claimed) {
      this.#channels.add(String(one.channelId));
      this.#accounts.add(one.accountId);
      void this.#queue.add(() => this.#deliver(one));
    }
    return claimed.length;
  }

  /** How long until the next retry is due, of whatever process; no longer than one look. */
  async #untilNextMs(): Promise<number> {
    const { store, clock } = this.#parts;
    // What came due since then was not taken with it.
    const nextAtMs = await nextDueAtMs(store, { atMs: this.#lookedAtMs });
    if (nextAtMs === null) return LOOK_EVERY_MS;
    return Math.min(LOOK_EVERY_MS, Math.max(0, nextAtMs - clock.wallMs()));
  }

  async #send({ id: deliveryId, attempt, ...claimed }: ClaimedDelivery): Promise<SendOutcome> {
    if (attempt > MAX_TAKEN) {
      return notSent('the service ended each time while it was being sent', { isFinal: true });
    }
    // As the notice book put it.
    const notice = claimed.notice as AlertNotice;
    const { accountId, channelId, target, sealedSecrets } = claimed;
    const parcel = { deliveryId, accountId, channelId, target, sealedSecrets, notice };
    return sendSealed(this.#parts, parcel, this.#cut.signal);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    try {
      const sent = await this.#send(delivery);
      await this.#record(delivery, this.#judge(delivery, sent));
    } finally {
      this.#channels.remove(String(delivery.channelId));
      this.#accounts.remove(delivery.accountId);
      // The next one of the channel or of the check may be waiting for this.
      this.#bell.ring();
    }
  }

  #judge({ attempt }: ClaimedDelivery, sent: SendOutcome): AttemptOutcome {
    const { clock } = this.#parts;
    const wasCut = !sent.ok && this.#cut.signal.aborted;
    return outcomeOfAttempt(sent, { attempt, wasCut, atMs: clock.wallMs() });
  }

  async #record(delivery: ClaimedDelivery, outcome: AttemptOutcome): Promise<void> {
    const { store, clock, log } = this.#parts;
    const { id, attempt } = delivery;
    for (let tries = 1; tries <= RECORD_TRIES; tries += 1) {
      try {
        const atMs = clock.wallMs();
        await recordAttempt(store, { id, owner: this.#owner, attempt, atMs, outcome });
        return;
      } catch (error) {
        if (tries < RECORD_TRIES && (await sleep(clock, RECORD_AGAIN_MS, this.#cut.signal)))
          continue;
        log.warn(
          { deliveryId: id },
          `the outcome of a delivery could not be saved, so it will be sent again: ${messageOf(error)}`,
        );
        return;
      }
    }
  }

  async #finish(): Promise<void> {
    const cancel = this.#parts.clock.after(GRACE_MS, () => this.#cut.abort());
    await this.#queue.onIdle();
    cancel();
  }
}

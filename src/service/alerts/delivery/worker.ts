import PQueue from 'p-queue';
import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { WakeSignal } from '../../../runtime/wake-signal.ts';
import type { Store } from '../../database/store.ts';
import type { AlertNotice } from '../notice.ts';
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  nextDueAtMs,
  recordAttempt,
} from './claims.sql.ts';
import { NameCounts } from './name-counts.ts';
import { notSent, outcomeOfAttempt, type SendOutcome } from './outcome.ts';
import { type SealedSending, sendSealed } from './send-sealed.ts';
import { SEND_LIMIT_MS } from './sender.ts';
import { NOTICES_CHANNEL } from './sql.ts';

export interface DeliveryWorkerParts extends SealedSending {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
}

/** At once in this process, to one channel and for one account: none keeps the others waiting. */
const MAX_SENDING = 100;
const MAX_PER_CHANNEL = 4;
const MAX_PER_ACCOUNT = 40;
/** Longer than an attempt and the storage of its outcome can take. */
const LEASE_MS = SEND_LIMIT_MS + 40_000;
/** For what no notification announces: a retry that is due, an expired lease, a lost notification. */
const POLL_EVERY_MS = 5_000;
const MAX_BACK_OFF_MS = 30_000;
/** When the service stops, attempts in flight may end within this time. */
const GRACE_MS = 3_000;
/** Claims of one delivery: stops a delivery that crashes the process each time. */
const MAX_CLAIMS = 20;
const RECORD_TRIES = 5;
const RECORD_AGAIN_MS = 2_000;

/**
 * Sends the pending deliveries until the signal aborts. Claims each delivery with a lease, sends it
 * outside of any transaction and stores the outcome. Where the process ends in between, another one
 * sends it again after the lease: at least once, usually once. The notices of one check to one
 * channel keep their order: each waits until the one before it is sent or failed.
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
  readonly #wake = new WakeSignal();
  readonly #queue = new PQueue({ concurrency: MAX_SENDING });
  readonly #channels = new NameCounts();
  readonly #accounts = new NameCounts();
  /** Aborts the attempts in flight, GRACE_MS after the stop. */
  readonly #cut = new AbortController();
  /** Epoch milliseconds. Deliveries due by then are claimed, as far as the capacity allows. */
  #claimedAtMs = 0;

  constructor(parts: DeliveryWorkerParts) {
    this.#parts = parts;
    this.#owner = parts.ids();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const endListening = await this.#listen();
    const backoff = new Backoff({ minMs: POLL_EVERY_MS * 2, maxMs: MAX_BACK_OFF_MS });
    let isFailing = false;
    while (!signal.aborted) {
      let waitMs = POLL_EVERY_MS;
      try {
        if ((await this.#claim()) > 0) continue;
        waitMs = await this.#untilNextMs();
        backoff.reset();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) {
          log.warn(`notices cannot be sent now: ${messageOf(error)}`);
        }
        isFailing = true;
        waitMs = backoff.next();
      }
      // Zero: a delivery came due meanwhile.
      if (waitMs > 0) await this.#wake.wait(clock, waitMs, signal);
    }
    await this.#finish();
    await endListening();
  }

  /** Where it fails, notices wait for the next poll. */
  async #listen(): Promise<() => Promise<void>> {
    const { store, log } = this.#parts;
    try {
      return await store.listen(NOTICES_CHANNEL, this.#wake.ring);
    } catch (error) {
      log.warn(`falling back to polling for new notices every few seconds: ${messageOf(error)}`);
      return async () => {};
    }
  }

  /** @returns how many deliveries it began to send */
  async #claim(): Promise<number> {
    const { store, clock } = this.#parts;
    const capacity = MAX_SENDING - this.#queue.pending - this.#queue.size;
    if (capacity <= 0) return 0;
    this.#claimedAtMs = clock.wallMs();
    const claimed = await claimDeliveries(store, {
      owner: this.#owner,
      atMs: this.#claimedAtMs,
      leaseMs: LEASE_MS,
      limit: capacity,
      perChannel: MAX_PER_CHANNEL,
      perAccount: MAX_PER_ACCOUNT,
      busyChannels: this.#channels.counts(),
      busyAccounts: this.#accounts.counts(),
    });
    for (const delivery of claimed) {
      this.#channels.add(String(delivery.channelId));
      this.#accounts.add(delivery.accountId);
      void this.#queue.add(() => this.#deliver(delivery));
    }
    return claimed.length;
  }

  /** The time until the next retry of any process is due; at most until the next poll. */
  async #untilNextMs(): Promise<number> {
    const { store, clock } = this.#parts;
    // Deliveries that came due after the last claim are still unclaimed.
    const nextAtMs = await nextDueAtMs(store, { atMs: this.#claimedAtMs });
    if (nextAtMs === null) return POLL_EVERY_MS;
    return Math.min(POLL_EVERY_MS, Math.max(0, nextAtMs - clock.wallMs()));
  }

  async #send({ id: deliveryId, attempt, ...claimed }: ClaimedDelivery): Promise<SendOutcome> {
    if (attempt > MAX_CLAIMS) {
      return notSent('the service ended each time while it was being sent', { isFinal: true });
    }
    // As the outbox stored it.
    const notice = claimed.notice as AlertNotice;
    const { accountId, channelId, target, sealedSecrets } = claimed;
    const delivery = { deliveryId, accountId, channelId, target, sealedSecrets, notice };
    return sendSealed(this.#parts, delivery, this.#cut.signal);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    try {
      const sent = await this.#send(delivery);
      await this.#record(delivery, this.#judge(delivery, sent));
    } finally {
      this.#channels.remove(String(delivery.channelId));
      this.#accounts.remove(delivery.accountId);
      // The next delivery of the channel or of the check may wait for this one.
      this.#wake.ring();
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

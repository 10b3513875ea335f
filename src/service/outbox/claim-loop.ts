import PQueue from 'p-queue';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import { WakeSignal } from '../../runtime/wake-signal.ts';
import type { Store } from '../database/store.ts';
import { notSent, type SendOutcome } from '../outgoing/send-outcome.ts';

/** A delivery that this process may send until its lease ends. */
export interface Claimed {
  readonly id: string;
  /** How often it was claimed; counts from 1. */
  readonly attempt: number;
}

export interface ClaimLoopParts<Delivery extends Claimed, Result> {
  readonly store: Pick<Store, 'listen'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Notified when there is something to send. */
  readonly channel: string;
  /** Nouns for log lines: plural and singular. */
  readonly words: { readonly all: string; readonly one: string };
  /** Maximum number of deliveries that this process sends concurrently. */
  readonly maxSending: number;
  /** Maximum number of deliveries claimed by this process, including those that wait for others. */
  readonly maxClaimed: number;
  /** Claims only if there is room for at least this many deliveries. */
  readonly minClaim: number;
  /**
   * Creates deliveries before each claim.
   *
   * @returns whether it created some, or may create more
   */
  prepare?(): Promise<boolean>;
  /** Claims deliveries that are due by `atMs` (epoch milliseconds), with a lease. */
  claim(query: { readonly atMs: number; readonly limit: number }): Promise<readonly Delivery[]>;
  /** When the next delivery comes due after `atMs`; null for none. */
  nextDueAtMs(atMs: number): Promise<number | null>;
  /** Sends it, outside of any transaction. Must not reject; ends soon after the signal aborts. */
  send(delivery: Delivery, signal: AbortSignal): Promise<Result>;
  /**
   * Stores the outcome of an attempt, unless another process has claimed the delivery since.
   *
   * @param wasCut whether the service stopped during the attempt
   */
  record(
    delivery: Delivery,
    result: Result,
    at: { readonly atMs: number; readonly wasCut: boolean },
  ): Promise<void>;
  /** Called when the delivery is sent and recorded, or abandoned until its lease ends. */
  onEnd(delivery: Delivery): void;
}

/** Catches retries that are due, expired leases and lost notifications. */
const POLL_EVERY_MS = 5_000;
const MAX_BACK_OFF_MS = 30_000;
/** When the service stops, attempts in flight may end within this time. */
const GRACE_MS = 3_000;
const RECORD_TRIES = 5;
const RECORD_AGAIN_MS = 2_000;
/** Maximum number of claims of one delivery: stops a delivery that crashes the process each time. */
const MAX_CLAIMS = 20;

/** The outcome of a delivery that was claimed too often; null for any other. */
export function tooManyClaims({ attempt }: Claimed): SendOutcome | null {
  if (attempt <= MAX_CLAIMS) return null;
  return notSent('the service ended each time while it was being sent', { isFinal: true });
}

/**
 * Sends the deliveries of an outbox table: claims them with a lease, sends them outside of any transaction and
 * records the outcome. If the process ends in between, another process sends the delivery again after its lease:
 * delivery is at least once, usually exactly once.
 */
export class ClaimLoop<Delivery extends Claimed, Result> {
  readonly #parts: ClaimLoopParts<Delivery, Result>;
  readonly #wake = new WakeSignal();
  readonly #queue: PQueue;
  /** Aborts the attempts in flight, GRACE_MS after the stop. */
  readonly #cut = new AbortController();
  /** Deliveries that were due by this time (epoch milliseconds) have been claimed, as far as there was room. */
  #claimedAtMs = 0;

  constructor(parts: ClaimLoopParts<Delivery, Result>) {
    this.#parts = parts;
    this.#queue = new PQueue({ concurrency: parts.maxSending });
  }

  /** Runs until the signal aborts. Backs off while the database is away, up to 30 s. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, words, prepare } = this.#parts;
    const endListening = await this.#listen();
    const backoff = new Backoff({ minMs: POLL_EVERY_MS * 2, maxMs: MAX_BACK_OFF_MS });
    let isFailing = false;
    while (!signal.aborted) {
      let waitMs = POLL_EVERY_MS;
      try {
        const mayHaveMore = (await prepare?.()) ?? false;
        if ((await this.#claim()) > 0 || mayHaveMore) continue;
        waitMs = await this.#untilNextMs();
        backoff.reset();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) {
          log.warn(`could not send ${words.all}: ${messageOf(error)}`);
        }
        isFailing = true;
        waitMs = backoff.next();
      }
      // Zero: a delivery became due in the meantime.
      if (waitMs > 0) await this.#wake.wait(clock, waitMs, signal);
    }
    await this.#finish();
    await endListening();
  }

  /** Listens for notifications. If this fails, deliveries wait for the next poll. */
  async #listen(): Promise<() => Promise<void>> {
    const { store, log, channel, words } = this.#parts;
    try {
      return await store.listen(channel, this.#wake.ring);
    } catch (error) {
      log.warn(
        `no notifications from the database, polling for ${words.all} every ${POLL_EVERY_MS / 1_000} s: ${messageOf(error)}`,
      );
      return async () => {};
    }
  }

  /** @returns how many deliveries it began to send */
  async #claim(): Promise<number> {
    const { clock, maxClaimed, minClaim, claim } = this.#parts;
    const limit = maxClaimed - this.#queue.pending - this.#queue.size;
    if (limit < minClaim) return 0;
    this.#claimedAtMs = clock.wallMs();
    const claimed = await claim({ atMs: this.#claimedAtMs, limit });
    for (const delivery of claimed) void this.#queue.add(() => this.#deliver(delivery));
    return claimed.length;
  }

  /** The time until the next retry of any process is due; at most until the next poll. */
  async #untilNextMs(): Promise<number> {
    const { clock, nextDueAtMs } = this.#parts;
    // Deliveries that came due after the last claim are still unclaimed.
    const nextAtMs = await nextDueAtMs(this.#claimedAtMs);
    if (nextAtMs === null) return POLL_EVERY_MS;
    return Math.min(POLL_EVERY_MS, Math.max(0, nextAtMs - clock.wallMs()));
  }

  async #deliver(delivery: Delivery): Promise<void> {
    try {
      const result = await this.#parts.send(delivery, this.#cut.signal);
      await this.#record(delivery, result, this.#cut.signal.aborted);
    } finally {
      this.#parts.onEnd(delivery);
      // Another delivery may wait for this one.
      this.#wake.ring();
    }
  }

  async #record(delivery: Delivery, result: Result, wasCut: boolean): Promise<void> {
    const { clock, log, words, record } = this.#parts;
    for (let tries = 1; tries <= RECORD_TRIES; tries += 1) {
      try {
        await record(delivery, result, { atMs: clock.wallMs(), wasCut });
        return;
      } catch (error) {
        if (tries < RECORD_TRIES && (await sleep(clock, RECORD_AGAIN_MS, this.#cut.signal)))
          continue;
        log.warn(
          { deliveryId: delivery.id },
          `could not save the outcome of ${words.one}, so it will be sent again: ${messageOf(error)}`,
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

import type { Clock } from '../../runtime/clock.ts';
import { unavailable } from '../errors.ts';

export interface ReportQueueParts {
  readonly clock: Clock;
  /** Reports that are made at once, of all accounts. */
  readonly atOnce: number;
  /** A place is free only when it was empty for as long as its last report took. */
  readonly rests: boolean;
}

interface Waiting {
  readonly accountId: string;
  readonly begin: () => void;
}

/** Of each account: more would be answered too late anyway. */
const MAX_WAITING = 30;
/** Of all together. */
const MAX_WAITING_IN_ALL = 300;
const RETRY_SECONDS = 10;
/** Shorter ones disturb nobody. */
const NO_REST_BELOW_MS = 50;

/**
 * Reports read many rows. Whatever is asked for, they leave most of the database to the results,
 * pings and agents that cannot wait; and of an account one is made after the other, so that none
 * waits for all those of another.
 */
export class ReportQueue {
  readonly #parts: ReportQueueParts;
  readonly #running = new Set<string>();
  #busy = 0;
  #waiting: readonly Waiting[] = [];

  constructor(parts: ReportQueueParts) {
    this.#parts = parts;
  }

  /** @throws ServiceError 503 where too many wait already */
  async run<T>(accountId: string, report: () => Promise<T>): Promise<T> {
    await this.#turn(accountId);
    const { clock, rests } = this.#parts;
    const startMs = clock.monotonicMs();
    try {
      return await report();
    } finally {
      this.#running.delete(accountId);
      const tookMs = clock.monotonicMs() - startMs;
      if (rests && tookMs >= NO_REST_BELOW_MS) clock.after(tookMs, () => this.#leave());
      else this.#leave();
    }
  }

  #turn(accountId: string): Promise<void> {
    const ofAccount = this.#waiting.filter((one) => one.accountId === accountId).length;
    if (ofAccount >= MAX_WAITING || this.#waiting.length >= MAX_WAITING_IN_ALL) {
      const message = 'Too many reports are asked for at once; try again';
      return Promise.reject(unavailable(message, RETRY_SECONDS));
    }
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, { accountId, begin: resolve }];
      this.#beginNext();
    });
  }

  #leave(): void {
    this.#busy -= 1;
    this.#beginNext();
  }

  #beginNext(): void {
    if (this.#busy >= this.#parts.atOnce) return;
    const next = this.#waiting.find(({ accountId }) => !this.#running.has(accountId));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#busy += 1;
    this.#running.add(next.accountId);
    next.begin();
    this.#beginNext();
  }
}

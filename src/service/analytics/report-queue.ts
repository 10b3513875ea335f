import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/store.ts';
import { unavailable } from '../errors.ts';

export interface ReportQueueParts {
  readonly clock: Clock;
  /** Maximum number of concurrent reports of all accounts. */
  readonly atOnce: number;
  /** Whether the queue pauses after each report for as long as the report took. */
  readonly rests: boolean;
}

interface Waiting {
  readonly accountId: string;
  readonly begin: () => void;
}

/** Leaves most connections of the pool (10 by default) to work that cannot wait. */
const REPORTS_AT_ONCE = 2;
/** Maximum number of waiting reports of an account: in a longer queue, responses would come too late. */
const MAX_WAITING = 30;
/** Maximum number of waiting reports of all accounts. */
const MAX_WAITING_IN_ALL = 300;
const RETRY_SECONDS = 10;
/** No pause follows a shorter report. */
const NO_REST_BELOW_MS = 50;

/**
 * Reports read many rows: the queue leaves most of the database to results, pings and agents, which
 * cannot wait. It runs one report of an account at a time, so that accounts do not block each other.
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
    await this.#wait(accountId);
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

  #wait(accountId: string): Promise<void> {
    const own = this.#waiting.filter((waiting) => waiting.accountId === accountId).length;
    if (own >= MAX_WAITING || this.#waiting.length >= MAX_WAITING_IN_ALL) {
      const message = 'Too many reports wait; try again later';
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
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    this.#busy += 1;
    this.#running.add(next.accountId);
    next.begin();
    this.#beginNext();
  }
}

/** The queue of all reports of a service. With the embedded database: one at a time, with pauses in between. */
export function createReportQueue({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'kind'>;
  readonly clock: Clock;
}): ReportQueue {
  const isEmbedded = store.kind === 'pglite';
  return new ReportQueue({
    clock,
    atOnce: isEmbedded ? 1 : REPORTS_AT_ONCE,
    rests: isEmbedded,
  });
}

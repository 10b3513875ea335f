import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import type { Store } from '../database/store.ts';
import { addFailedSignIns } from './sql.ts';

/** Failed sign-ins of one user within this time share an entry. */
const WINDOW_MS = 15 * 60_000;
const FLUSH_EVERY_MS = 2_000;
/** Maximum number of distinct emails between two flushes. Further failures are only counted. */
const MAX_WAITING = 1_000;

interface Failure {
  readonly email: string;
  readonly address: string;
  readonly atMs: number;
  readonly count: number;
  readonly window: string;
}

/**
 * Collects failed sign-ins and stores them every two seconds: stored within the request, they would make
 * the answer for a known user slower than for an unknown one.
 */
export class FailedSignIns {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;
  #waiting = new Map<string, Failure>();
  #failures = 0;
  #unrecorded = 0;

  constructor({ store, clock, log }: { store: Store; clock: Clock; log: Logger }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Counts since the start. `unrecorded` failures are in no audit log. */
  get counts(): { readonly failures: number; readonly unrecorded: number } {
    return { failures: this.#failures, unrecorded: this.#unrecorded };
  }

  /** @param email in lower case; need not belong to a user */
  add(email: string, address: string): void {
    this.#failures += 1;
    const atMs = this.#clock.wallMs();
    const window = new Date(atMs - (atMs % WINDOW_MS)).toISOString();
    const key = `${window} ${email}`;
    const known = this.#waiting.get(key);
    if (known === undefined && this.#waiting.size >= MAX_WAITING) {
      this.#unrecorded += 1;
      return;
    }
    const count = (known?.count ?? 0) + 1;
    this.#waiting.set(key, { email, address, atMs, count, window });
  }

  /** Stores what was collected. Never rejects. */
  async flush(): Promise<void> {
    const failures = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (const failure of failures) {
      try {
        await addFailedSignIns(this.#store, failure);
      } catch (error) {
        this.#unrecorded += failure.count;
        this.#log.warn(
          { kind: messageOf(error), failures: failure.count },
          'failed sign-ins could not be stored in the audit log',
        );
      }
    }
  }

  /** Stores them until the signal aborts, and a last time then. */
  async maintain(signal: AbortSignal): Promise<void> {
    while (await sleep(this.#clock, FLUSH_EVERY_MS, signal)) await this.flush();
    await this.flush();
  }
}

import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../database/store.ts';
import { refusesWrites, StoreError } from '../../database/store-errors.ts';
import { probeDatabaseDisk } from './write-probe.sql.ts';

const PROBE_EVERY_MS = 1_000;

export interface ResultStorageParts {
  readonly store: Pick<Store, 'transaction'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Knows whether the database accepts results, from the outcome of storing them. While the database refuses
 * results, a probe writes and rolls back: a service that is not ready may receive no results to learn from.
 */
export class ResultStorage {
  readonly #parts: ResultStorageParts;
  #isRefusing: boolean = false;
  #probing: Promise<void> | null = null;
  #nextProbeMs = 0;

  constructor(parts: ResultStorageParts) {
    this.#parts = parts;
  }

  /** Returns the outcome of storing results. Learns only from failures: a success may have written nothing. */
  async watch<T>(storing: Promise<T>): Promise<T> {
    try {
      return await storing;
    } catch (thrown) {
      this.#failed(thrown);
      throw thrown;
    }
  }

  /** Whether results can be stored. Never rejects. */
  async takes(): Promise<boolean> {
    if (!this.#isRefusing) return true;
    if (this.#probing === null && this.#parts.clock.monotonicMs() >= this.#nextProbeMs) {
      this.#probing = this.#probe().finally(() => {
        this.#probing = null;
      });
    }
    await this.#probing;
    return !this.#isRefusing;
  }

  async #probe(): Promise<void> {
    const { store, clock, log } = this.#parts;
    try {
      await probeDatabaseDisk(store);
      this.#isRefusing = false;
      log.warn('the database accepts results again');
    } catch (thrown) {
      // If the database is unavailable, nothing is known. Any other failure does not mean a full disk.
      if (!refusesWrites(thrown) && !isUnavailable(thrown)) {
        this.#isRefusing = false;
        log.error(
          { err: thrown },
          `the service assumes that the database is writable again, but could not test it: ${messageOf(thrown)}`,
        );
      }
    }
    this.#nextProbeMs = clock.monotonicMs() + PROBE_EVERY_MS;
  }

  #failed(thrown: unknown): void {
    if (this.#isRefusing || !refusesWrites(thrown)) return;
    this.#isRefusing = true;
    this.#parts.log.error(
      { code: thrown.code, sqlState: thrown.sqlState },
      `the database refuses results, and the service is not ready until it accepts them: check its disk (${messageOf(thrown)})`,
    );
  }
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof StoreError && thrown.kind === 'unavailable';
}

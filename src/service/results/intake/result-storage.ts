import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../database/port.ts';
import { StoreError } from '../../database/store-errors.ts';
import { probeDatabaseDisk } from './write-probe.sql.ts';

/** SQLSTATE: its disk is full (53100), or it is read-only (25006), whatever is to be stored. */
const REFUSALS: ReadonlySet<string | null> = new Set(['53100', '25006']);
/** Between two tries to write. */
const TRY_EVERY_MS = 1_000;

export interface ResultStorageParts {
  readonly store: Pick<Store, 'transaction'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Whether the database takes results. It is known from those that come; only while it refuses them
 * is it tried by a write that leaves nothing, since a service that is not ready may get no result.
 */
export class ResultStorage {
  readonly #parts: ResultStorageParts;
  #isRefusing: boolean = false;
  #trying: Promise<void> | null = null;
  #nextTryMs = 0;

  constructor(parts: ResultStorageParts) {
    this.#parts = parts;
  }

  /** Learns from what comes of storing results, and gives it on. What succeeds may have written nothing. */
  async watch<T>(storing: Promise<T>): Promise<T> {
    try {
      return await storing;
    } catch (thrown) {
      this.#failed(thrown);
      throw thrown;
    }
  }

  /** Never rejects. */
  async takes(): Promise<boolean> {
    if (!this.#isRefusing) return true;
    if (this.#trying === null && this.#parts.clock.monotonicMs() >= this.#nextTryMs) {
      this.#trying = this.#try().finally(() => {
        this.#trying = null;
      });
    }
    await this.#trying;
    return !this.#isRefusing;
  }

  async #try(): Promise<void> {
    const { store, clock, log } = this.#parts;
    try {
      await probeDatabaseDisk(store);
      this.#isRefusing = false;
      log.warn('the database accepts results again');
    } catch (thrown) {
      // Where it cannot be asked now, nothing is known. What else is wrong with the try is no lack of room.
      if (!isRefusal(thrown) && !isUnavailable(thrown)) {
        this.#isRefusing = false;
        log.error(
          { err: thrown },
          `the service assumes that the database is writable again, but could not test it: ${messageOf(thrown)}`,
        );
      }
    }
    this.#nextTryMs = clock.monotonicMs() + TRY_EVERY_MS;
  }

  #failed(thrown: unknown): void {
    if (this.#isRefusing || !isRefusal(thrown)) return;
    this.#isRefusing = true;
    this.#parts.log.error(
      { code: thrown.code, sqlState: thrown.sqlState },
      `the database refuses results, and the service is not ready until it accepts them: check its disk (${messageOf(thrown)})`,
    );
  }
}

function isRefusal(thrown: unknown): thrown is StoreError {
  return thrown instanceof StoreError && REFUSALS.has(thrown.sqlState);
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof StoreError && thrown.kind === 'unavailable';
}

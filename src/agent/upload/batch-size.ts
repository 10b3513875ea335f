import { MAX_MISSED, MAX_RESULTS } from '../../wire/v1/limits.ts';

const MAX_RECORDS = MAX_RESULTS + MAX_MISSED;
/** A request that fails is repeated with this many times fewer records. */
const DIVISOR = 8;
/** A batch of this many records also passes a bad line: smaller ones only mean more requests. */
const MIN_OFFLINE = 16;

/**
 * The number of records in the next batch: fewer over a bad line, through a proxy with a low limit,
 * or to find a record that the service refuses.
 */
export class BatchSize {
  #maxRecords = MAX_RECORDS;
  /** Falls after a refusal and rises slowly, so that not every batch exceeds a proxy's limit. */
  #ceiling = MAX_RECORDS;

  get maxRecords(): number {
    return this.#maxRecords;
  }

  succeeded(): void {
    this.#ceiling = Math.min(MAX_RECORDS, this.#ceiling + Math.ceil(this.#ceiling / 16));
    this.#maxRecords = Math.min(this.#ceiling, this.#maxRecords * 2);
  }

  /** The service refused a batch of this many records, one of which may be the reason. */
  refused(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / 2));
    this.#ceiling = this.#maxRecords;
  }

  /** The record that caused the refusal was found and left the spool. */
  foundRefused(): void {
    this.#ceiling = MAX_RECORDS;
  }

  /** A batch of this many records got no answer, and not for the first time. */
  offline(sent: number): void {
    this.#maxRecords = Math.max(MIN_OFFLINE, Math.floor(sent / DIVISOR));
  }

  /** The service failed on a batch of this many records, and not for the first time. */
  failed(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / DIVISOR));
  }

  /** The next batch has one record. */
  sendOne(): void {
    this.#maxRecords = 1;
  }
}

import { MAX_MISSED, MAX_RESULTS } from '../../wire/v1/limits.ts';

const MAX_RECORDS = MAX_RESULTS + MAX_MISSED;
/** A request that fails is repeated with this many times fewer records. */
const DIVISOR = 8;
/** As few as this get through a bad line, too: smaller ones are only more requests. */
const MIN_OFFLINE = 16;

/** How many records go together: fewer over a bad line, through a strict proxy, or to find a bad one. */
export class BatchSize {
  #maxRecords = MAX_RECORDS;
  /** Lower after a refusal, and slowly higher again: a proxy's bound is not tried with every batch. */
  #ceiling = MAX_RECORDS;

  get maxRecords(): number {
    return this.#maxRecords;
  }

  succeeded(): void {
    this.#ceiling = Math.min(MAX_RECORDS, this.#ceiling + Math.ceil(this.#ceiling / 16));
    this.#maxRecords = Math.min(this.#ceiling, this.#maxRecords * 2);
  }

  /** The service refused a batch of this many, one of which may be the reason. */
  refused(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / 2));
    this.#ceiling = this.#maxRecords;
  }

  /** The one that was refused is found, and is out of the way. */
  foundRefused(): void {
    this.#ceiling = MAX_RECORDS;
  }

  /** No answer came to a batch of this many, and not for the first time. */
  offline(sent: number): void {
    this.#maxRecords = Math.max(MIN_OFFLINE, Math.floor(sent / DIVISOR));
  }

  /** The service failed over a batch of this many, and not for the first time. */
  failed(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / DIVISOR));
  }

  /** The next record goes alone. */
  sendOne(): void {
    this.#maxRecords = 1;
  }
}

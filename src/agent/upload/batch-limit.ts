import { MAX_MISSED, MAX_RESULTS } from '../../wire/v1/limits.ts';

const MAX_RECORDS = MAX_RESULTS + MAX_MISSED;
/** A request that fails is tried with so many times fewer records. */
const DIVISOR = 8;
/** As few as this get through a bad line, too: smaller ones are only more requests. */
const MIN_OFFLINE = 16;
/** One record alone that failed so often is passed over for now. */
const MAX_ALONE = 5;
/** Where more of them fail it is not the records: then all of them wait. */
const MAX_ASIDE = 3;
const ASIDE_MS = 600_000;

/**
 * How many records go together, and which are passed over for a while: a record that makes the
 * service fail, or a batch too long for a bad line or a strict proxy, must not hold up all others.
 */
export class BatchLimit {
  #maxRecords = MAX_RECORDS;
  /** Lower after a refusal, and slowly higher again: a proxy's bound is not tried with every batch. */
  #ceiling = MAX_RECORDS;
  #alone = { key: -1, times: 0 };
  /** Keys of records that are passed over, with when they are tried again (monotonic). */
  readonly #aside = new Map<number, number>();

  get maxRecords(): number {
    return this.#maxRecords;
  }

  succeeded(keys: readonly number[]): void {
    this.#ceiling = Math.min(MAX_RECORDS, this.#ceiling + Math.ceil(this.#ceiling / 16));
    this.#maxRecords = Math.min(this.#ceiling, this.#maxRecords * 2);
    for (const key of keys) this.#aside.delete(key);
  }

  /** The service refused a batch of so many, one of which may be the reason. */
  refused(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / 2));
    this.#ceiling = this.#maxRecords;
  }

  /** The one that was refused is found, and is out of the way. */
  found(key: number): void {
    this.#aside.delete(key);
    this.#ceiling = MAX_RECORDS;
  }

  /** No answer came to a batch of so many, and not for the first time. */
  offline(sent: number): void {
    this.#maxRecords = Math.max(MIN_OFFLINE, Math.floor(sent / DIVISOR));
  }

  /** The service failed over a batch of so many, and not for the first time. */
  failed(sent: number): void {
    this.#maxRecords = Math.max(1, Math.floor(sent / DIVISOR));
  }

  /** The service failed over this record alone. True: pass it over for now. */
  failedAlone(key: number, nowMs: number): boolean {
    if (this.#aside.has(key)) return true;
    const times = this.#alone.key === key ? this.#alone.times + 1 : 1;
    this.#alone = { key, times };
    if (times < MAX_ALONE || this.#aside.size >= MAX_ASIDE) return false;
    this.#aside.set(key, nowMs + ASIDE_MS);
    return true;
  }

  /** Where to read on: at the first record passed over whose time has come, alone; else as it was. */
  cursor(after: number, nowMs: number): number {
    for (const [key, dueMs] of this.#aside) {
      if (dueMs > nowMs || key > after) continue;
      this.#aside.delete(key);
      // Once more, and it is passed over again; or it is gone, and nothing keeps its place.
      this.#alone = { key, times: MAX_ALONE - 1 };
      this.#maxRecords = 1;
      return key - 1;
    }
    return after;
  }
}

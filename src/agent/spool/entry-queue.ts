import type { Entry } from './entry.ts';

/** Removes entries that left once there are this many, and more than waiting ones. */
const MIN_CUT = 1024;

/** Entries of one log by key, at constant cost however many there are. */
export class EntryQueue {
  #entries: Entry[] = [];
  #head = 0;
  #gone = 0;

  get first(): Entry | null {
    return this.#entries[this.#head] ?? null;
  }

  /** The entry's key must be above all that were pushed before. */
  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  left(entry: Entry): void {
    entry.gone = true;
    this.#gone += 1;
    while (this.first?.gone) {
      this.#head += 1;
      this.#gone -= 1;
    }
    const waste = this.#head + this.#gone;
    if (waste < MIN_CUT || waste * 2 < this.#entries.length) return;
    this.#entries = this.#entries.filter(({ gone }) => !gone);
    this.#head = 0;
    this.#gone = 0;
  }

  find(key: number): Entry | null {
    const entry = this.#entries[this.#indexFrom(key)];
    return entry?.key === key && !entry.gone ? entry : null;
  }

  /**
   * Entries with a key above `after`, oldest first. Nothing may be removed during the iteration.
   */
  *after(after: number): Generator<Entry, void, undefined> {
    for (let index = this.#indexFrom(after + 1); ; index += 1) {
      const entry = this.#entries[index];
      if (entry === undefined) return;
      if (!entry.gone) yield entry;
    }
  }

  /** The first index with that key or a higher one. */
  #indexFrom(key: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.key ?? key) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

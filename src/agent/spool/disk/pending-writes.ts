import { type Entry, LOG_PRIORITIES, type LogPriority, PRIORITY_OF_KIND } from '../entry.ts';
import { lostKeyOf } from '../frame.ts';
import type { SpoolKind } from '../spool.ts';
import type { SpoolIndex } from '../spool-index.ts';
import type { Removals } from './segment-store.ts';

/** What one group commit writes. */
export interface Group {
  readonly entries: readonly Entry[];
  readonly bytes: number;
  readonly removals: Removals;
  /** Once it is written, all up to this key is on disk. */
  readonly upToKey: number;
}

/**
 * What waits for the disk: entries of the index, and word of those that left.
 *
 * Keys are given in the order of arrival. Entries up to `committedKey` are on disk, those up to
 * `takenKey` are being written, and the rest waits in memory.
 */
export class PendingWrites {
  readonly #index: SpoolIndex;
  #removals: Removals = { spare: [], main: [] };
  #lastKey: number;
  #takenKey: number;
  #committedKey: number;
  #waitingBytes = 0;
  #takenBytes = 0;

  /** @param lastKey the highest that is on disk */
  constructor(index: SpoolIndex, lastKey: number) {
    this.#index = index;
    this.#lastKey = lastKey;
    this.#takenKey = lastKey;
    this.#committedKey = lastKey;
  }

  get lastKey(): number {
    return this.#lastKey;
  }

  get takenKey(): number {
    return this.#takenKey;
  }

  get committedKey(): number {
    return this.#committedKey;
  }

  /** Of entries in memory that no group has taken. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Of all entries that are in memory for the disk, those that are being written among them. */
  get bytes(): number {
    return this.#waitingBytes + this.#takenBytes;
  }

  get hasRemovals(): boolean {
    const { spare, main } = this.#removals;
    return spare.length + main.length > 0;
  }

  get isEmpty(): boolean {
    return this.bytes === 0 && !this.hasRemovals;
  }

  /** A key of its own, for what arrives or leaves now. */
  nextKey(): number {
    this.#lastKey += 1;
    return this.#lastKey;
  }

  /** An entry of so many bytes is in the index. */
  added(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  /** One that is on disk has no entry any more, and must not be there after the next start. */
  removed(kind: SpoolKind, key: number): void {
    this.#removals[PRIORITY_OF_KIND[kind]].push(key);
  }

  /**
   * The frame of this number is lost, which is known from now on. Told by its log like a removal,
   * as a key below 0, which no record has.
   */
  lost(lot: LogPriority, number: number): void {
    this.#removals[lot].push(lostKeyOf(number));
  }

  /** Keeps the books of an entry that left the index, wherever it is. */
  left({ kind, key, bytes, segment }: Entry): void {
    if (segment !== null) segment.live -= 1;
    const waits = segment === null && key > this.#takenKey;
    if (waits) this.#waitingBytes -= bytes;
    else this.removed(kind, key);
  }

  /** The next that is to be written, of `maxBytes` or a single entry; until it is settled no other may be taken. */
  take(maxBytes: number): Group {
    const entries: Entry[] = [];
    let bytes = 0;
    let upToKey = this.#lastKey;
    for (const entry of this.#index.after(this.#takenKey)) {
      // When one log refused, the other may have taken its part all the same.
      if (entry.segment !== null) continue;
      if (entries.length > 0 && bytes + entry.bytes > maxBytes) {
        upToKey = entries.at(-1)?.key ?? upToKey;
        break;
      }
      entries.push(entry);
      bytes += entry.bytes;
    }
    const removals = this.#removals;
    this.#removals = { spare: [], main: [] };
    this.#takenKey = upToKey;
    this.#takenBytes = bytes;
    this.#waitingBytes -= bytes;
    return { entries, bytes, removals, upToKey };
  }

  /** The group is on disk. */
  committed({ upToKey }: Group): void {
    this.#takenBytes = 0;
    this.#committedKey = upToKey;
  }

  /** The group is not on disk, or only a part of it: what is not waits again. */
  putBack({ entries, removals }: Group): void {
    this.#takenKey = this.#committedKey;
    this.#takenBytes = 0;
    for (const { gone, segment, bytes } of entries) {
      if (!gone && segment === null) this.#waitingBytes += bytes;
    }
    for (const lot of LOG_PRIORITIES)
      this.#removals[lot] = [...removals[lot], ...this.#removals[lot]];
  }
}

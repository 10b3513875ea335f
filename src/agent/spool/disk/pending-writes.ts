import { LOG_PRIORITIES, type LogPriority, PRIORITY_OF_KIND } from '../drop-order.ts';
import type { Entry } from '../entry.ts';
import { lostKeyOf } from '../frame.ts';
import type { SpoolKind } from '../spool.ts';
import type { SpoolIndex } from '../spool-index.ts';
import type { Removals } from './segment-store.ts';

/** The default for the bytes of records that may wait in memory. */
export const DEFAULT_MAX_MEMORY_BYTES = 64 * 1024 * 1024;

/** One group commit. */
export interface Group {
  readonly entries: readonly Entry[];
  readonly bytes: number;
  readonly removals: Removals;
  /** Once the group is written, all up to this key is on disk. */
  readonly upToKey: number;
}

/**
 * Entries of the index, and removals of entries that left, that wait in memory to be written to
 * disk, for longer while the disk is full or slow. Chooses the entries to drop if they take more
 * than `maxMemoryBytes`.
 *
 * Keys are assigned in the order of arrival. Entries up to `committedKey` are on disk, those up to
 * `takenKey` are being written, and the rest waits in memory.
 */
export class PendingWrites {
  readonly #index: SpoolIndex;
  /** Maximum bytes of entries that are not on disk. */
  readonly maxMemoryBytes: number;
  #removals: Removals = { spare: [], main: [] };
  #lastKey: number;
  #takenKey: number;
  #committedKey: number;
  #waitingBytes = 0;
  #takenBytes = 0;

  /** @param lastKey the highest key on disk */
  constructor(index: SpoolIndex, lastKey: number, maxMemoryBytes: number) {
    this.#index = index;
    this.maxMemoryBytes = maxMemoryBytes;
    this.#lastKey = lastKey;
    this.#takenKey = lastKey;
    this.#committedKey = lastKey;
  }

  get lastKey(): number {
    return this.#lastKey;
  }

  get committedKey(): number {
    return this.#committedKey;
  }

  /** Bytes of entries in memory that are in no group. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Bytes of all entries that are not on disk, including the group that is being written. */
  get bytes(): number {
    return this.#waitingBytes + this.#takenBytes;
  }

  /**
   * The entry to drop next because more than `maxMemoryBytes` wait: attempts and artifacts first.
   */
  get firstBeyondMemory(): Entry | null {
    if (this.bytes <= this.maxMemoryBytes) return null;
    // Dropping an entry that is being written would free no memory.
    const after = this.#takenKey;
    return this.#index.firstInMemory('spare', after) ?? this.#index.firstInMemory('main', after);
  }

  get hasRemovals(): boolean {
    const { spare, main } = this.#removals;
    return spare.length + main.length > 0;
  }

  get isEmpty(): boolean {
    return this.bytes === 0 && !this.hasRemovals;
  }

  /** A new key, for a record or a removal. */
  nextKey(): number {
    this.#lastKey += 1;
    return this.#lastKey;
  }

  /** An entry of this many bytes was added to the index. */
  added(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  /** A record on disk has no entry any more, and must not reappear at the next start. */
  removed(kind: SpoolKind, key: number): void {
    this.#removals[PRIORITY_OF_KIND[kind]].push(key);
  }

  /** Notes a lost frame as known: a removal with a key below 0, which no record has. */
  lost(priority: LogPriority, number: number): void {
    this.#removals[priority].push(lostKeyOf(number));
  }

  /** Updates the counts for an entry that left the index, on disk or not. */
  left({ kind, key, bytes, segment }: Entry): void {
    if (segment !== null) segment.live -= 1;
    const waits = segment === null && key > this.#takenKey;
    if (waits) this.#waitingBytes -= bytes;
    else this.removed(kind, key);
  }

  /** The next group, of `maxBytes` or a single entry. Settle it before the next call. */
  take(maxBytes: number): Group {
    const entries: Entry[] = [];
    let bytes = 0;
    let upToKey = this.#lastKey;
    for (const entry of this.#index.after(this.#takenKey)) {
      // When one log failed, the other may have written its part.
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

  /** The group is not on disk, or only a part of it: the rest waits again. */
  putBack({ entries, removals }: Group): void {
    this.#takenKey = this.#committedKey;
    this.#takenBytes = 0;
    for (const { gone, segment, bytes } of entries) {
      if (!gone && segment === null) this.#waitingBytes += bytes;
    }
    for (const priority of LOG_PRIORITIES)
      this.#removals[priority] = [...removals[priority], ...this.#removals[priority]];
  }
}

import { bootTimeMs } from '../../runtime/boot-clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PendingWrites } from './disk/pending-writes.ts';
import type { LogPriority } from './drop-order.ts';
import type { Entry, Segment } from './entry.ts';
import type { SpoolDropReason } from './spool.ts';
import type { SpoolIndex } from './spool-index.ts';
import type { SpoolLog } from './spool-log.ts';

/** Maximum number of records that expire at once: more would block the event loop. */
const MAX_EXPIRED = 2_000;

export interface RecordDropperParts {
  readonly index: SpoolIndex;
  readonly pending: PendingWrites;
  readonly spoolLog: SpoolLog;
  readonly clock: Clock;
  /** Bytes of all spool files. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** Drops, counts and logs records that were not accepted: they are too old, or there is no room. */
export class RecordDropper {
  readonly #parts: RecordDropperParts;

  constructor(parts: RecordDropperParts) {
    this.#parts = parts;
  }

  /** Drops records that are too old, not always all at once. True if there were some. */
  expire(): boolean {
    const { index, clock, maxAgeMs, spoolLog } = this.#parts;
    const nowMs = bootTimeMs(clock);
    let expired = 0;
    for (let oldest = index.oldest; oldest !== null; oldest = index.oldest) {
      if (nowMs - oldest.bornMs <= maxAgeMs || expired === MAX_EXPIRED) break;
      this.drop(oldest, 'age');
      expired += 1;
    }
    if (expired > 0) spoolLog.expired(expired);
    return expired > 0;
  }

  /**
   * Bounds the memory of records that wait for the disk.
   *
   * @param isSlow the disk accepts writes, but too slowly: log it
   */
  boundMemory(isSlow: boolean): void {
    const { pending, spoolLog } = this.#parts;
    let victim = pending.firstBeyondMemory;
    for (; victim !== null; victim = pending.firstBeyondMemory) {
      this.drop(victim, 'memory');
      if (isSlow) spoolLog.slow(pending.maxMemoryBytes);
    }
  }

  /** Drops the records of a log's oldest file, which is about to be removed to make room. */
  dropFile(priority: LogPriority, victim: Segment): void {
    const { index, spoolLog, maxBytes } = this.#parts;
    if (victim.live > 0) spoolLog.full(maxBytes);
    for (
      let first = index.firstOf(priority);
      first?.segment === victim;
      first = index.firstOf(priority)
    ) {
      index.drop(first, 'space');
    }
  }

  /** At the end: drops what is still not on disk. */
  dropWaiting(): void {
    const { index, pending, spoolLog } = this.#parts;
    const after = [...index.after(pending.committedKey)];
    const lost = after.filter(({ segment }) => segment === null);
    for (const entry of lost) index.drop(entry, 'memory');
    if (lost.length > 0) spoolLog.lost(lost.length);
  }

  /** Removes an entry for good, and from the disk with the next group commit. */
  drop(entry: Entry, reason: SpoolDropReason): void {
    this.#parts.index.drop(entry, reason);
    this.#parts.pending.left(entry);
  }
}

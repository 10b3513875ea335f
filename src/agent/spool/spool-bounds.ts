import type { Clock } from '../../runtime/clock.ts';
import { upTimeMs } from '../../runtime/up-time.ts';
import type { PendingWrites } from './disk/pending-writes.ts';
import type { Entry, LogPriority, Segment } from './entry.ts';
import type { SpoolDropReason } from './spool.ts';
import type { SpoolIndex } from './spool-index.ts';
import type { SpoolLog } from './spool-log.ts';

/** How many records may go for their age at once, so that the event loop is not held. */
const MAX_EXPIRED = 2_000;

export interface SpoolBoundsParts {
  readonly index: SpoolIndex;
  readonly pending: PendingWrites;
  readonly voice: SpoolLog;
  readonly clock: Clock;
  /** Of the files together. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** What may wait in memory for the disk. */
  readonly maxMemoryBytes: number;
}

/** What has to leave although nobody accepted it, for its age or for want of room; it is counted and told. */
export class SpoolBounds {
  readonly #parts: SpoolBoundsParts;

  constructor(parts: SpoolBoundsParts) {
    this.#parts = parts;
  }

  /** Whether some left for their age; they may not be all. */
  expire(): boolean {
    const { index, clock, maxAgeMs, voice } = this.#parts;
    const nowMs = upTimeMs(clock);
    let expired = 0;
    for (let oldest = index.oldest; oldest !== null; oldest = index.oldest) {
      if (nowMs - oldest.bornMs <= maxAgeMs || expired === MAX_EXPIRED) break;
      this.drop(oldest, 'age');
      expired += 1;
    }
    if (expired > 0) voice.expired(expired);
    return expired > 0;
  }

  /**
   * What waits for the disk must not eat the memory.
   *
   * @param isSlow the disk takes what comes, if late: then that is told
   */
  boundMemory(isSlow: boolean): void {
    const { index, pending, maxMemoryBytes, voice } = this.#parts;
    const { takenKey } = pending;
    while (pending.bytes > maxMemoryBytes) {
      const victim =
        index.firstInMemory('spare', takenKey) ?? index.firstInMemory('main', takenKey);
      if (victim === null) return;
      this.drop(victim, 'memory');
      if (isSlow) voice.slow(maxMemoryBytes);
    }
  }

  /** Before the oldest file of a lot goes for want of room. */
  dropFile(lot: LogPriority, victim: Segment): void {
    const { index, voice, maxBytes } = this.#parts;
    if (victim.live > 0) voice.full(maxBytes);
    for (let first = index.firstOf(lot); first?.segment === victim; first = index.firstOf(lot)) {
      index.drop(first, 'space');
    }
  }

  /** At the end, what is still not on disk. */
  dropWaiting(): void {
    const { index, pending, voice } = this.#parts;
    const after = [...index.after(pending.committedKey)];
    const lost = after.filter(({ segment }) => segment === null);
    for (const entry of lost) index.drop(entry, 'memory');
    if (lost.length > 0) voice.lost(lost.length);
  }

  /**
   * Takes an entry out for good, and off the disk. Where its file goes with it, or nothing is written
   * any more, there is nothing to keep in the books.
   */
  drop(entry: Entry, reason: SpoolDropReason): void {
    this.#parts.index.drop(entry, reason);
    this.#parts.pending.left(entry);
  }
}

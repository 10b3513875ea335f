import type { Logger } from '../../../runtime/logger.ts';
import {
  type Entry,
  LOG_PRIORITIES,
  type LogPriority,
  PRIORITY_OF_KIND,
  type Segment,
} from '../entry.ts';
import { encodeKeys } from '../frame.ts';
import type { BesideSpool } from '../spool.ts';
import type { Disk } from './disk.ts';
import type { LostRecords } from './lost-frames.ts';
import { type RecoveredEntry, type RecoveredLog, recoverLog } from './recover.ts';
import { type NewFrame, SegmentLog } from './segment-log.ts';
import { openSpoolFolder, type SpoolFolder } from './spool-folder.ts';

const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
/** A lot is dropped in pieces that are no larger a part of the whole than this. */
const SEGMENTS = 32;

/** Keys of records that left, which their log must tell. */
export type Removals = Record<LogPriority, number[]>;

export interface StoreOptions {
  readonly dataDir: string;
  readonly disk: Disk;
  readonly maxBytes: number;
  readonly log: Logger;
}

export interface OpenedStore {
  readonly store: SegmentStore;
  /** What was found, oldest first in each lot. */
  readonly waiting: Readonly<Record<LogPriority, readonly RecoveredEntry[]>>;
  /** What damage took. */
  readonly lost: readonly LostRecords[];
}

/** Numbers that one start forgets at most; the others are told of once more by the next. */
const MAX_FORGOTTEN = 10_000;

/** The two logs in their folder, bounded together. One call at a time. */
export class SegmentStore {
  readonly #folder: SpoolFolder;
  readonly #logs: Readonly<Record<LogPriority, SegmentLog>>;
  readonly #maxBytes: number;
  /** Until damage is forgotten. */
  #found: Readonly<Record<LogPriority, RecoveredLog>> | null;
  readonly damagedFiles: number;
  /** The highest key in use; -1 where there is none. */
  readonly lastKey: number;

  /** @throws VedetteError of code DATA_DIR_UNUSABLE or DATA_DIR_IN_USE */
  static async open({ dataDir, disk, maxBytes, log }: StoreOptions): Promise<OpenedStore> {
    const folder = await openSpoolFolder(dataDir, disk, log);
    try {
      const spare = await recoverLog(folder, 'spare');
      const main = await recoverLog(folder, 'main');
      return {
        store: new SegmentStore(folder, { spare, main }, maxBytes),
        waiting: { spare: spare.entries, main: main.entries },
        lost: [...main.lost, ...spare.lost],
      };
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  private constructor(
    folder: SpoolFolder,
    found: Readonly<Record<LogPriority, RecoveredLog>>,
    maxBytes: number,
  ) {
    const segmentBytes = Math.min(MAX_SEGMENT_BYTES, Math.ceil(maxBytes / SEGMENTS));
    const logOf = (name: LogPriority): SegmentLog => {
      const { segments, nextNumber } = found[name];
      return new SegmentLog({ folder, name, segmentBytes, segments, nextNumber });
    };
    this.#folder = folder;
    this.#found = found;
    this.#maxBytes = maxBytes;
    this.#logs = { spare: logOf('spare'), main: logOf('main') };
    this.damagedFiles = found.spare.damagedFiles + found.main.damagedFiles;
    this.lastKey = Math.max(found.spare.lastKey, found.main.lastKey);
  }

  /** Of all files, with what left already. */
  get bytes(): number {
    return this.#logs.spare.bytes + this.#logs.main.bytes;
  }

  /**
   * Resolves when all of it is on disk and the entries know where. `key` is one that no record
   * that comes later has.
   *
   * @throws the system's error. What the other log took all the same counts: its entries know where,
   *   and its removals are taken out of `removals`
   */
  async write(entries: readonly Entry[], removals: Removals, key: number): Promise<void> {
    const written = await Promise.allSettled(
      LOG_PRIORITIES.map((lot) => {
        const own = entries.filter(({ kind }) => PRIORITY_OF_KIND[kind] === lot);
        return this.#writeLot(lot, own, removals, key);
      }),
    );
    for (const each of written) if (each.status === 'rejected') throw each.reason;
  }

  /**
   * Makes so much more fit in the bound: what is kept beside goes first, then the oldest files, those
   * of spare records before the others. `dropped` is told of each file before it goes.
   */
  async makeRoom(
    bytes: number,
    beside: BesideSpool,
    dropped: (lot: LogPriority, segment: Segment) => void,
  ): Promise<void> {
    const missing = (): number => this.bytes + beside.bytes + bytes - this.#maxBytes;
    if (missing() <= 0) return;
    await this.sweep();
    if (missing() > 0) await beside.shed(missing());
    while (missing() > 0) {
      const lot = this.#logs.spare.oldest === null ? 'main' : 'spare';
      const { oldest } = this.#logs[lot];
      if (oldest === null) return;
      dropped(lot, oldest);
      await this.#logs[lot].removeOldest();
    }
  }

  /**
   * The damage that was found at the start is told: what is left of those files may go as soon as
   * nothing waits in them. `forget` gets the numbers that are to be known as lost from now on.
   */
  forgetDamage(forget: (lot: LogPriority, number: number) => void): void {
    const found = this.#found;
    this.#found = null;
    if (found === null) return;
    for (const lot of LOG_PRIORITIES) {
      for (const segment of found[lot].held) segment.live -= 1;
      let left = MAX_FORGOTTEN;
      for (const { from, end } of found[lot].toForget) {
        const until = Math.min(end, from + left);
        for (let number = from; number < until; number += 1) forget(lot, number);
        left -= Math.max(0, until - from);
      }
    }
  }

  /** Takes away the files in which nothing waits any more. */
  async sweep(): Promise<void> {
    for (const lot of LOG_PRIORITIES) await this.#logs[lot].sweep();
  }

  async close(): Promise<void> {
    for (const lot of LOG_PRIORITIES) await this.#logs[lot].close();
    await this.#folder.close();
  }

  async #writeLot(
    lot: LogPriority,
    entries: readonly Entry[],
    removals: Removals,
    key: number,
  ): Promise<void> {
    // One that left meanwhile has no content any more, and needs none.
    const there = entries.filter(({ gone }) => !gone);
    const frames: NewFrame[] = there.flatMap(({ kind, key: own, id, content }) =>
      content === null ? [] : [{ type: kind, key: own, id, ...content }],
    );
    if (removals[lot].length > 0) {
      const keys = removals[lot];
      frames.push({ type: 'removal', key, atMs: 0, id: '', body: encodeKeys(keys), keys });
    }
    if (frames.length === 0) return;
    const { segment, offsets } = await this.#logs[lot].append(frames);
    removals[lot] = [];
    for (const [index, entry] of there.entries()) {
      // One that left while it was written has its removal under way.
      if (entry.gone) continue;
      entry.segment = segment;
      entry.offset = offsets[index] ?? 0;
      entry.content = null;
      segment.live += 1;
    }
  }
}

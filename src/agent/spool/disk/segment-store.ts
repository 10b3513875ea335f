import type { FileSystem } from '../../../runtime/files/file-system.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LOG_PRIORITIES, type LogPriority, nextToDrop, PRIORITY_OF_KIND } from '../drop-order.ts';
import type { Entry, Segment } from '../entry.ts';
import { encodeKeys } from '../frame.ts';
import type { SharedSpoolSpace } from '../spool.ts';
import type { LostRecords } from './lost-frames.ts';
import { type RecoveredLog, recoverLog } from './recover.ts';
import type { RecoveredEntry } from './scan-file.ts';
import { type NewFrame, SegmentLog } from './segment-log.ts';
import { openSpoolFolder, type SpoolFolder } from './spool-folder.ts';

const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
/** Records are dropped file by file, so a file has at most 1/SEGMENTS of the bound. */
const SEGMENTS = 32;

/** Keys of records that left, to be written to their log. */
export type Removals = Record<LogPriority, number[]>;

export interface StoreOptions {
  readonly dataDir: string;
  readonly disk: FileSystem;
  readonly maxBytes: number;
  readonly log: Logger;
}

export interface OpenedStore {
  readonly store: SegmentStore;
  /** Oldest first in each log. */
  readonly waiting: Readonly<Record<LogPriority, readonly RecoveredEntry[]>>;
  readonly lost: readonly LostRecords[];
}

/** Maximum number of frames that one start records as lost; the next start reports the others. */
const MAX_FORGOTTEN = 10_000;

/** The two logs in their folder, bounded together. One call at a time. */
export class SegmentStore {
  readonly #folder: SpoolFolder;
  readonly #logs: Readonly<Record<LogPriority, SegmentLog>>;
  readonly #maxBytes: number;
  /** null once the damage is forgotten. */
  #found: Readonly<Record<LogPriority, RecoveredLog>> | null;
  readonly damagedFiles: number;
  /** The highest key in use; -1 if there is none. */
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

  /** Bytes of all files, including records that left. */
  get bytes(): number {
    return this.#logs.spare.bytes + this.#logs.main.bytes;
  }

  /**
   * Resolves when everything is on disk and the entries have their positions. No later record has
   * `key`.
   *
   * @throws the system's error. The other log's part may be written: its entries have their
   *   positions, and its removals are no longer in `removals`
   */
  async write(entries: readonly Entry[], removals: Removals, key: number): Promise<void> {
    const written = await Promise.allSettled(
      LOG_PRIORITIES.map((priority) => {
        const own = entries.filter(({ kind }) => PRIORITY_OF_KIND[kind] === priority);
        return this.#writeLog(priority, own, removals, key);
      }),
    );
    for (const each of written) if (each.status === 'rejected') throw each.reason;
  }

  /**
   * Makes room for this many bytes: drops artifacts first, then the oldest files of spare records,
   * then of the others. Calls `dropped` before it deletes a file.
   */
  async makeRoom(
    bytes: number,
    beside: SharedSpoolSpace,
    dropped: (priority: LogPriority, segment: Segment) => void,
  ): Promise<void> {
    const missing = (): number => this.bytes + beside.bytes + bytes - this.#maxBytes;
    if (missing() <= 0) return;
    await this.sweep();
    if (missing() > 0) await beside.shed(missing());
    while (missing() > 0) {
      const next = nextToDrop(this.#logs);
      if (next === null) return;
      dropped(next.priority, next.segment);
      await this.#logs[next.priority].removeOldest();
    }
  }

  /**
   * Call it when the damage found at the start is reported: then damaged files may be removed once
   * nothing waits in them. Calls `forget` with the numbers to record as lost.
   */
  forgetDamage(forget: (priority: LogPriority, number: number) => void): void {
    const found = this.#found;
    this.#found = null;
    if (found === null) return;
    for (const priority of LOG_PRIORITIES) {
      for (const segment of found[priority].held) segment.live -= 1;
      let left = MAX_FORGOTTEN;
      for (const { from, end } of found[priority].toForget) {
        const until = Math.min(end, from + left);
        for (let number = from; number < until; number += 1) forget(priority, number);
        left -= Math.max(0, until - from);
      }
    }
  }

  /** Deletes the files in which nothing waits. */
  async sweep(): Promise<void> {
    for (const priority of LOG_PRIORITIES) await this.#logs[priority].sweep();
  }

  async close(): Promise<void> {
    for (const priority of LOG_PRIORITIES) await this.#logs[priority].close();
    await this.#folder.close();
  }

  async #writeLog(
    priority: LogPriority,
    entries: readonly Entry[],
    removals: Removals,
    key: number,
  ): Promise<void> {
    // An entry that left meanwhile has no content.
    const there = entries.filter(({ gone }) => !gone);
    const frames: NewFrame[] = there.flatMap(({ kind, key: own, id, content }) =>
      content === null ? [] : [{ type: kind, key: own, id, ...content }],
    );
    if (removals[priority].length > 0) {
      const keys = removals[priority];
      frames.push({ type: 'removal', key, atMs: 0, id: '', body: encodeKeys(keys), keys });
    }
    if (frames.length === 0) return;
    const { segment, offsets } = await this.#logs[priority].append(frames);
    removals[priority] = [];
    for (const [index, entry] of there.entries()) {
      // The removal of an entry that left during the write is pending.
      if (entry.gone) continue;
      entry.segment = segment;
      entry.offset = offsets[index] ?? 0;
      entry.content = null;
      segment.live += 1;
    }
  }
}

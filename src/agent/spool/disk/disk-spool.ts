import { setImmediate } from 'node:timers/promises';
import { bootTimeMs } from '../../../runtime/boot-clock.ts';
import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import type { FileSystem } from '../../../runtime/files/file-system.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LOG_PRIORITIES } from '../drop-order.ts';
import { RecordDropper } from '../drop-records.ts';
import { frameBytes } from '../frame.ts';
import { bootTimeOfRecord } from '../record-age.ts';
import { isWithinRecordLimits } from '../record-limits.ts';
import type {
  SharedSpoolSpace,
  Spool,
  SpoolDropped,
  SpoolDropReason,
  SpooledRecord,
  SpoolKind,
  SpoolLost,
  SpoolRecord,
} from '../spool.ts';
import { SpoolIndex } from '../spool-index.ts';
import { SpoolLog } from '../spool-log.ts';
import { SpoolWaiters } from '../spool-waiters.ts';
import { PendingWrites } from './pending-writes.ts';
import type { RecoveredEntry } from './scan-file.ts';
import { SegmentStore } from './segment-store.ts';
import { isDiskFull } from './spool-folder.ts';
import { SpoolReader } from './spool-reader.ts';

export interface DiskSpoolOptions {
  readonly dataDir: string;
  readonly disk: FileSystem;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDropped: SpoolDropped;
  readonly onLost: SpoolLost;
  /** Bytes of all spool files. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** Bytes of records that wait in memory for the disk. */
  readonly maxMemoryBytes: number;
  /** Milliseconds from a put to its group commit. */
  readonly commitDelayMs: number;
}

/** Bytes of one write: longer ones would block the event loop. */
const MAX_GROUP_BYTES = 1024 * 1024;
/** `#commitAll` down to this writes everything, removals too. */
const ALL_BYTES = -1;
const RETRY_MS = 1_000;
/** Bytes of artifacts to drop before each retry on a full disk. */
const SHED_BYTES = 8 * MAX_GROUP_BYTES;
const NOTHING_BESIDE: SharedSpoolSpace = { bytes: 0, shed: () => Promise.resolve() };
/** Records added at once at the start: more would block the event loop. */
const MAX_TAKEN_OVER = 5_000;

/**
 * The spool in a folder: segment files, an index in memory, and one group commit at a time.
 *
 * | state | a new record | entered by |
 * |---|---|---|
 * | durable | is on disk after the next group commit | the start; a successful write |
 * | failing | waits in memory, bounded; writes are retried every second | a failed write |
 *
 * After `close`, in either state, new records count as dropped.
 */
export class DiskSpool implements Spool {
  readonly #options: DiskSpoolOptions;
  readonly #store: SegmentStore;
  readonly #index: SpoolIndex;
  readonly #pending: PendingWrites;
  readonly #reader: SpoolReader;
  readonly #bounds: RecordDropper;
  readonly #spoolLog: SpoolLog;
  readonly #waiters = new SpoolWaiters();
  #cancelCommit: CancelTimer | null = null;
  /** Work on the files runs one after the other. */
  #lastWork: Promise<void> = Promise.resolve();
  #queuedWork = 0;
  #state: 'durable' | 'failing' = 'durable';
  #isOpen: boolean = true;
  /** Closed: removals are not written to disk any more. */
  #isEnded: boolean = false;
  /** The count of dropped records when writes began to fail; null while they succeed. */
  #droppedBefore: number | null = null;
  #beside: SharedSpoolSpace = NOTHING_BESIDE;

  /** @throws VedetteError of code DATA_DIR_UNUSABLE or DATA_DIR_IN_USE */
  static async open(options: DiskSpoolOptions): Promise<DiskSpool> {
    const { store, waiting, lost } = await SegmentStore.open(options);
    const spool = new DiskSpool(options, store);
    for (const { kind, count, slots } of lost) {
      spool.#index.refuse(kind, 'damage', count);
      if (slots !== null) options.onLost(slots);
    }
    for (const priority of LOG_PRIORITIES) {
      for (let from = 0; from < waiting[priority].length; from += MAX_TAKEN_OVER) {
        spool.#takeOver(waiting[priority].slice(from, from + MAX_TAKEN_OVER));
        await setImmediate();
      }
    }
    const { records, bytes } = spool.depth;
    if (records > 0) spool.#spoolLog.found(records, bytes);
    return spool;
  }

  private constructor(options: DiskSpoolOptions, store: SegmentStore) {
    this.#options = options;
    this.#store = store;
    const index = new SpoolIndex(options.onDropped);
    const pending = new PendingWrites(index, store.lastKey, options.maxMemoryBytes);
    const spoolLog = new SpoolLog(options.clock, options.log);
    this.#index = index;
    this.#pending = pending;
    this.#spoolLog = spoolLog;
    const { disk, clock, maxBytes, maxAgeMs } = options;
    this.#bounds = new RecordDropper({ index, pending, spoolLog, clock, maxBytes, maxAgeMs });
    const { onLost } = options;
    this.#reader = new SpoolReader({ index, bounds: this.#bounds, spoolLog, disk, onLost });
  }

  get state(): 'durable' | 'failing' {
    return this.#state;
  }

  get depth(): Spool['depth'] {
    return this.#index.depth;
  }

  get dropped(): Spool['dropped'] {
    return this.#index.dropped;
  }

  get damagedFiles(): number {
    return this.#store.damagedFiles + this.#reader.damagedFiles;
  }

  get oldestAgeMs(): number | null {
    const { oldest } = this.#index;
    return oldest === null ? null : bootTimeMs(this.#options.clock) - oldest.bornMs;
  }

  get freeBytes(): number {
    const used = this.#store.bytes + this.#pending.bytes + this.#beside.bytes;
    return Math.max(0, this.#options.maxBytes - used);
  }

  has(kind: SpoolKind, id: string): boolean {
    return this.#index.has(kind, id);
  }

  share(beside: SharedSpoolSpace): void {
    this.#beside = beside;
  }

  forgetDamage(): void {
    if (!this.#isOpen) return;
    this.#store.forgetDamage((priority, number) => this.#pending.lost(priority, number));
    if (!this.#pending.isEmpty) this.#schedule();
  }

  discard(kind: SpoolKind, id: string, reason: SpoolDropReason): void {
    const entry = this.#index.get(kind, id);
    if (entry === null || this.#isEnded) return;
    this.#bounds.drop(entry, reason);
    this.#schedule();
  }

  put(record: SpoolRecord): void {
    const { kind, id, body } = record;
    if (this.#index.has(kind, id)) return;
    const bytes = frameBytes(id, body.length);
    const maxRecordBytes = Math.min(this.#options.maxMemoryBytes, this.#options.maxBytes / 4);
    if (!this.#isOpen || !isWithinRecordLimits(id, bytes, maxRecordBytes)) {
      this.#index.refuse(kind, this.#isOpen ? 'space' : 'memory');
      return;
    }
    this.#index.admit(record, this.#pending.nextKey(), bootTimeMs(this.#options.clock));
    this.#pending.added(bytes);
    this.#bounds.boundMemory(this.#state === 'durable');
    this.#schedule();
    if (this.#state === 'failing') this.#wakeReaders();
  }

  committed(): Promise<void> {
    if (this.#pending.isEmpty && this.#queuedWork === 0) return Promise.resolve();
    const committed = this.#waiters.committed(this.#pending.lastKey);
    this.#schedule();
    return committed;
  }

  async batch(maxBytes: number, after = -1): Promise<readonly SpooledRecord[]> {
    if (this.#isOpen && this.#bounds.expire()) this.#schedule();
    while (this.#isOpen) {
      const entries = this.#reader.choose(maxBytes, after, this.#onlyDurable);
      if (entries.length === 0) return [];
      const records = await this.#reader.read(entries);
      // Damaged records were removed.
      if (!this.#pending.isEmpty) this.#schedule();
      // If all of them were damaged or removed meanwhile, there may be others.
      if (records.length > 0) return records;
    }
    return [];
  }

  async accepted(keys: readonly number[]): Promise<void> {
    if (!this.#isOpen) return;
    for (const key of keys) {
      const entry = this.#index.find(key);
      if (entry === null) continue;
      this.#index.remove(entry);
      this.#pending.left(entry);
    }
    if (this.#state === 'failing') {
      // The removals may free the space that is missing.
      await this.#exclusively(() => this.#store.sweep());
      return;
    }
    if (!this.#pending.hasRemovals) return;
    const removed = this.#waiters.removed(this.#pending.nextKey());
    this.#schedule();
    await removed;
  }

  available(signal: AbortSignal, after = -1): Promise<boolean> {
    if (!this.#isOpen || signal.aborted) return Promise.resolve(false);
    return this.#waiters.available(after, signal, (key) =>
      this.#reader.finds(key, this.#onlyDurable),
    );
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelCommit?.();
    this.#cancelCommit = null;
    await this.#exclusively(() => this.#commitAll(ALL_BYTES));
    this.#isEnded = true;
    this.#bounds.dropWaiting();
    this.#waiters.end();
    await this.#store.close();
  }

  #takeOver(waiting: readonly RecoveredEntry[]): void {
    const bornMs = bootTimeOfRecord(this.#options.clock);
    for (const { kind, id, key, atMs, bytes, segment, offset } of waiting) {
      if (this.#index.has(kind, id)) {
        segment.live -= 1;
        // Remove the duplicate from the disk: it must not reappear when the other record has left.
        this.#pending.removed(kind, key);
        continue;
      }
      // No spread: such objects take half as much memory again.
      this.#index.add({
        kind,
        id,
        key,
        bornMs: bornMs(atMs),
        bytes,
        content: null,
        segment,
        offset,
        gone: false,
      });
    }
  }

  #schedule(): void {
    if (!this.#isOpen || this.#cancelCommit !== null || this.#queuedWork > 0) return;
    const delayMs = this.#state === 'failing' ? RETRY_MS : this.#options.commitDelayMs;
    this.#cancelCommit = this.#options.clock.after(delayMs, () => {
      this.#cancelCommit = null;
      void this.#exclusively(() => this.#commitAll(MAX_GROUP_BYTES));
    });
  }

  async #exclusively(work: () => Promise<void>): Promise<void> {
    this.#queuedWork += 1;
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => {});
    try {
      await done;
    } finally {
      this.#queuedWork -= 1;
      if (!this.#pending.isEmpty) this.#schedule();
      else if (this.#queuedWork === 0) this.#waiters.onCommitted(this.#pending.lastKey);
    }
  }

  /** Writes group after group until at most `enoughBytes` wait, or one fails. */
  async #commitAll(enoughBytes: number): Promise<void> {
    this.#bounds.expire();
    const pending = this.#pending;
    while (!pending.isEmpty) {
      const group = pending.take(Math.min(MAX_GROUP_BYTES, this.#options.maxBytes / 4));
      try {
        await this.#store.makeRoom(group.bytes, this.#beside, (priority, victim) =>
          this.#bounds.dropFile(priority, victim),
        );
        await this.#store.write(group.entries, group.removals, group.upToKey);
      } catch (error) {
        pending.putBack(group);
        this.#fail(error);
        const hasMoreRoom = isDiskFull(error) && (await this.#shed());
        // At the end there is no later try.
        if (hasMoreRoom && !this.#isOpen) continue;
        return;
      }
      pending.committed(group);
      this.#succeed();
      await this.#store.sweep();
      if (pending.waitingBytes <= MAX_GROUP_BYTES) this.#logRecovered();
      if (pending.waitingBytes <= enoughBytes) return;
    }
  }

  /** False if there was nothing to drop. */
  async #shed(): Promise<boolean> {
    const beside = this.#beside;
    const { bytes } = beside;
    await beside.shed(SHED_BYTES);
    return beside.bytes < bytes;
  }

  #succeed(): void {
    this.#state = 'durable';
    this.#waiters.onCommitted(this.#pending.committedKey);
    this.#wakeReaders();
  }

  /** Call it when all records are written: a full disk may accept a single group now and then. */
  #logRecovered(): void {
    if (this.#droppedBefore === null) return;
    this.#spoolLog.recovered(this.#index.droppedInAll - this.#droppedBefore);
    this.#droppedBefore = null;
  }

  #fail(error: unknown): void {
    this.#droppedBefore ??= this.#index.droppedInAll;
    this.#state = 'failing';
    this.#spoolLog.failing(error, this.#options.maxMemoryBytes);
    this.#bounds.boundMemory(false);
    this.#waiters.onRemoved();
    this.#wakeReaders();
  }

  /** The service gets records that are on disk; while none can be written, from memory. */
  get #onlyDurable(): boolean {
    return this.#state === 'durable';
  }

  #wakeReaders(): void {
    this.#waiters.onReadable((after) => this.#reader.finds(after, this.#onlyDurable));
  }
}

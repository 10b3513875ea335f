import { setImmediate } from 'node:timers/promises';
import type { CancelTimer, Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { upTimeMs } from '../../../runtime/up-time.ts';
import { LOG_PRIORITIES } from '../entry.ts';
import { frameBytes } from '../frame.ts';
import type {
  BesideSpool,
  Spool,
  SpoolDropped,
  SpoolDropReason,
  SpooledRecord,
  SpoolKind,
  SpoolLost,
  SpoolRecord,
} from '../spool.ts';
import { SpoolBounds } from '../spool-bounds.ts';
import { SpoolIndex } from '../spool-index.ts';
import { SpoolLog } from '../spool-log.ts';
import { bornBefore, fits } from '../spool-rules.ts';
import { SpoolWaiters } from '../spool-waiters.ts';
import type { Disk } from './disk.ts';
import { PendingWrites } from './pending-writes.ts';
import type { RecoveredEntry } from './recover.ts';
import { SegmentStore } from './segment-store.ts';
import { isDiskFull } from './spool-folder.ts';
import { SpoolReader } from './spool-reader.ts';

export interface DiskSpoolOptions {
  readonly dataDir: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDropped: SpoolDropped;
  readonly onLost: SpoolLost;
  /** Of the files together. */
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** What may wait in memory for the disk. */
  readonly maxMemoryBytes: number;
  /** From a put to the group commit that takes it. */
  readonly commitDelayMs: number;
}

/** One write; longer ones would hold the event loop for too long. */
const MAX_GROUP_BYTES = 1024 * 1024;
/** So much less than nothing waits only when all is written, removals too. */
const ALL_BYTES = -1;
const RETRY_MS = 1_000;
/** What is kept beside gives way to results on a full disk, so much of it with each new try. */
const SHED_BYTES = 8 * MAX_GROUP_BYTES;
const NOTHING_BESIDE: BesideSpool = { bytes: 0, shed: () => Promise.resolve() };
/** How many records are taken over at once at the start, so that the event loop is not held. */
const MAX_TAKEN_OVER = 5_000;

/**
 * The spool in a folder: segment files, an index in memory, and one group commit at a time.
 *
 * | state | what is put | entered by |
 * |---|---|---|
 * | durable | is on disk after the next group commit | the start; a write that went well |
 * | failing | waits in memory, bounded; a new try each second | a write that failed |
 *
 * After `close`, in either state, what is put is counted as dropped.
 */
export class DiskSpool implements Spool {
  readonly #options: DiskSpoolOptions;
  readonly #store: SegmentStore;
  readonly #index: SpoolIndex;
  readonly #pending: PendingWrites;
  readonly #reader: SpoolReader;
  readonly #bounds: SpoolBounds;
  readonly #voice: SpoolLog;
  readonly #waiters = new SpoolWaiters();
  #cancelCommit: CancelTimer | null = null;
  /** The files are worked on by one after the other. */
  #lastTurn: Promise<void> = Promise.resolve();
  #turns = 0;
  #state: 'durable' | 'failing' = 'durable';
  #isOpen: boolean = true;
  /** What leaves from now on is told to nobody. */
  #isEnded: boolean = false;
  /** Before it could not be written; null while all is well. */
  #droppedBefore: number | null = null;
  #beside: BesideSpool = NOTHING_BESIDE;

  /** @throws VedetteError of code DATA_DIR_UNUSABLE or DATA_DIR_IN_USE */
  static async open(options: DiskSpoolOptions): Promise<DiskSpool> {
    const { store, waiting, lost } = await SegmentStore.open(options);
    const spool = new DiskSpool(options, store);
    for (const { kind, count, slots } of lost) {
      spool.#index.refuse(kind, 'damage', count);
      if (slots !== null) options.onLost(slots);
    }
    for (const lot of LOG_PRIORITIES) {
      for (let from = 0; from < waiting[lot].length; from += MAX_TAKEN_OVER) {
        spool.#takeOver(waiting[lot].slice(from, from + MAX_TAKEN_OVER));
        await setImmediate();
      }
    }
    const { records, bytes } = spool.depth;
    if (records > 0) spool.#voice.found(records, bytes);
    return spool;
  }

  private constructor(options: DiskSpoolOptions, store: SegmentStore) {
    this.#options = options;
    this.#store = store;
    const index = new SpoolIndex(options.onDropped);
    const pending = new PendingWrites(index, store.lastKey);
    const voice = new SpoolLog(options.clock, options.log);
    this.#index = index;
    this.#pending = pending;
    this.#voice = voice;
    const { disk, clock, maxBytes, maxAgeMs, maxMemoryBytes } = options;
    const bounds = { maxBytes, maxAgeMs, maxMemoryBytes };
    this.#bounds = new SpoolBounds({ index, pending, voice, clock, ...bounds });
    const { onLost } = options;
    this.#reader = new SpoolReader({ index, bounds: this.#bounds, voice, disk, onLost });
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
    return oldest === null ? null : upTimeMs(this.#options.clock) - oldest.bornMs;
  }

  get freeBytes(): number {
    const used = this.#store.bytes + this.#pending.bytes + this.#beside.bytes;
    return Math.max(0, this.#options.maxBytes - used);
  }

  has(kind: SpoolKind, id: string): boolean {
    return this.#index.has(kind, id);
  }

  share(beside: BesideSpool): void {
    this.#beside = beside;
  }

  forgetDamage(): void {
    if (!this.#isOpen) return;
    this.#store.forgetDamage((lot, number) => this.#pending.lost(lot, number));
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
    if (!this.#isOpen || !fits(id, bytes, maxRecordBytes)) {
      this.#index.refuse(kind, this.#isOpen ? 'space' : 'memory');
      return;
    }
    this.#index.admit(record, this.#pending.nextKey(), upTimeMs(this.#options.clock));
    this.#pending.added(bytes);
    this.#bounds.boundMemory(this.#state === 'durable');
    this.#schedule();
    if (this.#state === 'failing') this.#tellReaders();
  }

  committed(): Promise<void> {
    if (this.#pending.isEmpty && this.#turns === 0) return Promise.resolve();
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
      // What was damaged has left.
      if (!this.#pending.isEmpty) this.#schedule();
      // Where all of them were damaged or left meanwhile, there may be others.
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
      // What left makes room, which may be just what is missing.
      await this.#inTurn(() => this.#store.sweep());
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
    await this.#inTurn(() => this.#commitAll(ALL_BYTES));
    this.#isEnded = true;
    this.#bounds.dropWaiting();
    this.#waiters.end();
    await this.#store.close();
  }

  #takeOver(waiting: readonly RecoveredEntry[]): void {
    const bornMs = bornBefore(this.#options.clock);
    for (const { kind, id, key, atMs, bytes, segment, offset } of waiting) {
      if (this.#index.has(kind, id)) {
        segment.live -= 1;
        // Nobody accepts this one, and it must not be there again when the other has left.
        this.#pending.removed(kind, key);
        continue;
      }
      // Written out, since an object that is made by spreading takes half as much again.
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
    if (!this.#isOpen || this.#cancelCommit !== null || this.#turns > 0) return;
    const delayMs = this.#state === 'failing' ? RETRY_MS : this.#options.commitDelayMs;
    this.#cancelCommit = this.#options.clock.after(delayMs, () => {
      this.#cancelCommit = null;
      void this.#inTurn(() => this.#commitAll(MAX_GROUP_BYTES));
    });
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turns += 1;
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {});
    try {
      await turn;
    } finally {
      this.#turns -= 1;
      if (!this.#pending.isEmpty) this.#schedule();
      else if (this.#turns === 0) this.#waiters.onCommitted(this.#pending.lastKey);
    }
  }

  /** Writes group after group until no more than this waits beside the last, or one fails. */
  async #commitAll(enoughBytes: number): Promise<void> {
    this.#bounds.expire();
    const pending = this.#pending;
    while (!pending.isEmpty) {
      const group = pending.take(Math.min(MAX_GROUP_BYTES, this.#options.maxBytes / 4));
      try {
        await this.#store.makeRoom(group.bytes, this.#beside, (lot, victim) =>
          this.#bounds.dropFile(lot, victim),
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
      if (pending.waitingBytes <= MAX_GROUP_BYTES) this.#sayRecovered();
      if (pending.waitingBytes <= enoughBytes) return;
    }
  }

  /** False where there was nothing to be had. */
  async #shed(): Promise<boolean> {
    const beside = this.#beside;
    const { bytes } = beside;
    await beside.shed(SHED_BYTES);
    return beside.bytes < bytes;
  }

  #succeed(): void {
    this.#state = 'durable';
    this.#waiters.onCommitted(this.#pending.committedKey);
    this.#tellReaders();
  }

  /** Only once what waited is written: a full disk may take a group now and then. */
  #sayRecovered(): void {
    if (this.#droppedBefore === null) return;
    this.#voice.recovered(this.#index.droppedInAll - this.#droppedBefore);
    this.#droppedBefore = null;
  }

  #fail(error: unknown): void {
    this.#droppedBefore ??= this.#index.droppedInAll;
    this.#state = 'failing';
    this.#voice.failing(error, this.#options.maxMemoryBytes);
    this.#bounds.boundMemory(false);
    this.#waiters.onRemoved();
    this.#tellReaders();
  }

  /** Results go on as soon as they are on disk; while nothing can be written, from memory. */
  get #onlyDurable(): boolean {
    return this.#state === 'durable';
  }

  #tellReaders(): void {
    this.#waiters.onReadable((after) => this.#reader.finds(after, this.#onlyDurable));
  }
}

import { setImmediate } from 'node:timers/promises';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Disk } from './disk.ts';
import { type Content, type Entry, LOT_OF, LOTS, type Lot, type Segment } from './entry.ts';
import { frameBytes } from './frame.ts';
import { readContents } from './read-entries.ts';
import type { RecoveredEntry } from './recover.ts';
import { type Removals, SegmentStore } from './segment-store.ts';
import type {
  BesideSpool,
  Spool,
  SpoolDropped,
  SpoolDropReason,
  SpooledRecord,
  SpoolKind,
  SpoolRecord,
} from './spool.ts';
import { isDiskFull } from './spool-folder.ts';
import { SpoolIndex } from './spool-index.ts';
import { bornBefore, fits, upTimeMs } from './spool-rules.ts';
import { SpoolVoice } from './spool-voice.ts';
import { SpoolWaiters } from './spool-waiters.ts';

export interface DiskSpoolOptions {
  readonly dataDir: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDropped: SpoolDropped;
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
/** How many records may go for their age at once, so that the event loop is not held. */
const MAX_EXPIRED = 2_000;
/** The same for those that are there at the start. */
const MAX_TAKEN_OVER = 5_000;

interface Group {
  readonly entries: readonly Entry[];
  readonly bytes: number;
  readonly removals: Removals;
  /** Once it is written, all up to this key is on disk. */
  readonly upToKey: number;
}

/**
 * The spool in a folder: segment files, an index in memory, and one group commit at a time.
 *
 * | state | what is put | entered by |
 * |---|---|---|
 * | durable | is on disk after the next group commit | the start; a write that went well |
 * | failing | waits in memory, bounded; a new try each second | a write that failed |
 *
 * After `close`, in either state, what is put is counted as dropped.
 *
 * Keys are given in the order of arrival. Entries up to `#committedKey` are on disk, those up to
 * `#takenKey` are being written, and the rest waits in memory.
 */
export class DiskSpool implements Spool {
  readonly #options: DiskSpoolOptions;
  readonly #store: SegmentStore;
  readonly #index: SpoolIndex;
  readonly #voice: SpoolVoice;
  readonly #waiters = new SpoolWaiters();
  #removals: Removals = { spare: [], main: [] };
  #lastKey: number;
  #takenKey: number;
  #committedKey: number;
  #waitingBytes = 0;
  #takenBytes = 0;
  #cancelCommit: CancelTimer | null = null;
  /** The files are worked on by one after the other. */
  #lastTurn: Promise<void> = Promise.resolve();
  #turns = 0;
  #state: 'durable' | 'failing' = 'durable';
  #isOpen: boolean = true;
  /** What leaves from now on is told to nobody. */
  #isEnded: boolean = false;
  #droppedBefore = 0;
  #beside: BesideSpool = NOTHING_BESIDE;
  #damagedFiles: number;

  /** @throws VedetteError of code DATA_DIR_UNUSABLE or DATA_DIR_IN_USE */
  static async open(options: DiskSpoolOptions): Promise<DiskSpool> {
    const { store, waiting } = await SegmentStore.open(options);
    const spool = new DiskSpool(options, store);
    for (const lot of LOTS) {
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
    this.#index = new SpoolIndex(options.onDropped);
    this.#voice = new SpoolVoice(options.clock, options.log);
    this.#damagedFiles = store.damagedFiles;
    this.#lastKey = store.lastKey;
    this.#takenKey = store.lastKey;
    this.#committedKey = store.lastKey;
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
    return this.#damagedFiles;
  }

  get oldestAgeMs(): number | null {
    const { oldest } = this.#index;
    return oldest === null ? null : upTimeMs(this.#options.clock) - oldest.bornMs;
  }

  get freeBytes(): number {
    const used = this.#store.bytes + this.#waitingBytes + this.#takenBytes + this.#beside.bytes;
    return Math.max(0, this.#options.maxBytes - used);
  }

  has(kind: SpoolKind, id: string): boolean {
    return this.#index.has(kind, id);
  }

  share(beside: BesideSpool): void {
    this.#beside = beside;
  }

  discard(kind: SpoolKind, id: string, reason: SpoolDropReason): void {
    const entry = this.#index.get(kind, id);
    if (entry === null || this.#isEnded) return;
    this.#leave(entry, () => this.#index.drop(entry, reason));
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
    this.#lastKey += 1;
    this.#index.admit(record, this.#lastKey, upTimeMs(this.#options.clock));
    this.#waitingBytes += bytes;
    this.#boundMemory();
    this.#schedule();
    if (this.#state === 'failing') this.#tellReaders();
  }

  committed(): Promise<void> {
    if (!this.#hasWork && this.#turns === 0) return Promise.resolve();
    const committed = this.#waiters.committed(this.#lastKey);
    this.#schedule();
    return committed;
  }

  async batch(maxBytes: number, after = -1): Promise<readonly SpooledRecord[]> {
    if (this.#isOpen) this.#expire();
    while (this.#isOpen) {
      const entries = this.#choose(maxBytes, after);
      if (entries.length === 0) return [];
      const contents = await readContents(entries, this.#options.disk);
      const records = entries.flatMap((entry) =>
        this.#recordOf(entry, contents.get(entry) ?? null),
      );
      // Where all of them were damaged or left meanwhile, there may be others.
      if (records.length > 0) return records;
    }
    return [];
  }

  async accepted(keys: readonly number[]): Promise<void> {
    if (!this.#isOpen) return;
    for (const key of keys) {
      const entry = this.#index.find(key);
      if (entry !== null) this.#leave(entry, () => this.#index.remove(entry));
    }
    if (this.#state === 'failing') {
      // What left makes room, which may be just what is missing.
      await this.#inTurn(() => this.#store.sweep());
      return;
    }
    if (this.#removals.spare.length + this.#removals.main.length === 0) return;
    this.#lastKey += 1;
    const removed = this.#waiters.removed(this.#lastKey);
    this.#schedule();
    await removed;
  }

  available(signal: AbortSignal, after = -1): Promise<boolean> {
    if (!this.#isOpen || signal.aborted) return Promise.resolve(false);
    return this.#waiters.available(after, signal, (key) => this.#isReadable(key));
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelCommit?.();
    this.#cancelCommit = null;
    await this.#inTurn(() => this.#commitAll(ALL_BYTES));
    this.#isEnded = true;
    this.#loseWaiting();
    this.#waiters.end();
    await this.#store.close();
  }

  get #hasWork(): boolean {
    const { spare, main } = this.#removals;
    return this.#waitingBytes + this.#takenBytes > 0 || spare.length + main.length > 0;
  }

  #takeOver(waiting: readonly RecoveredEntry[]): void {
    const bornMs = bornBefore(this.#options.clock);
    for (const { kind, id, key, atMs, bytes, segment, offset } of waiting) {
      if (this.#index.has(kind, id)) {
        segment.live -= 1;
        // Nobody accepts this one, and it must not be there again when the other has left.
        this.#removals[LOT_OF[kind]].push(key);
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
      if (this.#hasWork) this.#schedule();
      else if (this.#turns === 0) this.#waiters.onCommitted(this.#lastKey);
    }
  }

  /** Writes group after group until no more than this waits beside the last, or one fails. */
  async #commitAll(enoughBytes: number): Promise<void> {
    this.#expire();
    while (this.#hasWork) {
      const group = this.#take();
      try {
        await this.#store.makeRoom(group.bytes, this.#beside, (lot, victim) =>
          this.#dropFile(lot, victim),
        );
        await this.#store.write(group.entries, group.removals, group.upToKey);
      } catch (error) {
        this.#putBack(group);
        this.#fail(error);
        const hasMoreRoom = isDiskFull(error) && (await this.#shed());
        // At the end there is no later try.
        if (hasMoreRoom && !this.#isOpen) continue;
        return;
      }
      this.#takenBytes = 0;
      this.#committedKey = group.upToKey;
      this.#succeed();
      await this.#store.sweep();
      if (this.#waitingBytes <= enoughBytes) return;
    }
  }

  /** False where there was nothing to be had. */
  async #shed(): Promise<boolean> {
    const beside = this.#beside;
    const { bytes } = beside;
    await beside.shed(SHED_BYTES);
    return beside.bytes < bytes;
  }

  #take(): Group {
    const maxBytes = Math.min(MAX_GROUP_BYTES, this.#options.maxBytes / 4);
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

  #putBack({ entries, removals }: Group): void {
    this.#takenKey = this.#committedKey;
    this.#takenBytes = 0;
    for (const { gone, segment, bytes } of entries) {
      if (!gone && segment === null) this.#waitingBytes += bytes;
    }
    for (const lot of LOTS) this.#removals[lot] = [...removals[lot], ...this.#removals[lot]];
  }

  #succeed(): void {
    if (this.#state === 'failing') {
      this.#state = 'durable';
      this.#voice.recovered(this.#index.droppedInAll - this.#droppedBefore);
    }
    this.#waiters.onCommitted(this.#committedKey);
    this.#tellReaders();
  }

  #fail(error: unknown): void {
    if (this.#state === 'durable') this.#droppedBefore = this.#index.droppedInAll;
    this.#state = 'failing';
    this.#voice.failing(error, this.#options.maxMemoryBytes);
    this.#boundMemory();
    this.#waiters.onRemoved();
    this.#tellReaders();
  }

  /** What waits for the disk must not eat the memory. */
  #boundMemory(): void {
    const { maxMemoryBytes } = this.#options;
    while (this.#waitingBytes + this.#takenBytes > maxMemoryBytes) {
      const victim =
        this.#index.firstInMemory('spare', this.#takenKey) ??
        this.#index.firstInMemory('main', this.#takenKey);
      if (victim === null) return;
      this.#leave(victim, () => this.#index.drop(victim, 'memory'));
      if (this.#state === 'durable') this.#voice.slow(maxMemoryBytes);
    }
  }

  #dropFile(lot: Lot, victim: Segment): void {
    if (victim.live > 0) this.#voice.full(this.#options.maxBytes);
    for (
      let first = this.#index.firstOf(lot);
      first?.segment === victim;
      first = this.#index.firstOf(lot)
    ) {
      this.#index.drop(first, 'space');
    }
  }

  #loseWaiting(): void {
    const after = [...this.#index.after(this.#committedKey)];
    const lost = after.filter(({ segment }) => segment === null);
    for (const entry of lost) this.#index.drop(entry, 'memory');
    if (lost.length > 0) this.#voice.lost(lost.length);
  }

  #expire(): void {
    const { clock, maxAgeMs } = this.#options;
    const nowMs = upTimeMs(clock);
    let expired = 0;
    for (let oldest = this.#index.oldest; oldest !== null; oldest = this.#index.oldest) {
      const entry = oldest;
      if (nowMs - entry.bornMs <= maxAgeMs || expired === MAX_EXPIRED) break;
      this.#leave(entry, () => this.#index.drop(entry, 'age'));
      expired += 1;
    }
    if (expired === 0) return;
    this.#voice.expired(expired);
    this.#schedule();
  }

  /** Keeps the books of a record that goes, wherever it is. */
  #leave(entry: Entry, takeOut: () => void): void {
    takeOut();
    if (entry.segment !== null) entry.segment.live -= 1;
    const waits = entry.segment === null && entry.key > this.#takenKey;
    if (waits) this.#waitingBytes -= entry.bytes;
    else this.#removals[LOT_OF[entry.kind]].push(entry.key);
  }

  #choose(maxBytes: number, after: number): readonly Entry[] {
    const entries: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#index.after(after)) {
      bytes += entry.bytes;
      if (entries.length > 0 && bytes > maxBytes) break;
      if (entry.segment === null && this.#state === 'durable') break;
      entries.push(entry);
    }
    return entries;
  }

  #recordOf(entry: Entry, content: Content | null): SpooledRecord[] {
    if (entry.gone) return [];
    const { key, kind, id, segment } = entry;
    if (content !== null) return [{ key, kind, id, ...content }];
    this.#leave(entry, () => this.#index.drop(entry, 'damage'));
    this.#schedule();
    if (segment === null || segment.damaged) return [];
    segment.damaged = true;
    this.#damagedFiles += 1;
    this.#voice.damaged(segment.path);
    return [];
  }

  #isReadable(after: number): boolean {
    const next = this.#index.after(after).next().value;
    return next !== undefined && (next.segment !== null || this.#state === 'failing');
  }

  #tellReaders(): void {
    this.#waiters.onReadable((after) => this.#isReadable(after));
  }
}

import { type LogPriority, PRIORITY_OF_KIND } from './drop-order.ts';
import type { Entry } from './entry.ts';
import { EntryQueue } from './entry-queue.ts';
import { frameBytes } from './frame.ts';
import type { SpoolDropped, SpoolDropReason, SpoolKind, SpoolRecord } from './spool.ts';

/**
 * The waiting records, by id and in order, and the counts of dropped ones. About 220 bytes a
 * record.
 */
export class SpoolIndex {
  readonly #onDropped: SpoolDropped;
  readonly #queues: Readonly<Record<LogPriority, EntryQueue>> = {
    spare: new EntryQueue(),
    main: new EntryQueue(),
  };
  readonly #ids: Readonly<Record<SpoolKind, Map<string, Entry>>> = {
    result: new Map(),
    attempt: new Map(),
    missed: new Map(),
    'artifact-note': new Map(),
  };
  readonly dropped: Record<SpoolKind, number> = {
    result: 0,
    attempt: 0,
    missed: 0,
    'artifact-note': 0,
  };
  #records = 0;
  #bytes = 0;

  constructor(onDropped: SpoolDropped) {
    this.#onDropped = onDropped;
  }

  get depth(): { readonly records: number; readonly bytes: number } {
    return { records: this.#records, bytes: this.#bytes };
  }

  /** The record that has waited longest. */
  get oldest(): Entry | null {
    const { spare, main } = this.#queues;
    if (spare.first === null || main.first === null) return spare.first ?? main.first;
    return spare.first.key < main.first.key ? spare.first : main.first;
  }

  has(kind: SpoolKind, id: string): boolean {
    return this.#ids[kind].has(id);
  }

  get(kind: SpoolKind, id: string): Entry | null {
    return this.#ids[kind].get(id) ?? null;
  }

  get droppedInAll(): number {
    return Object.values(this.dropped).reduce((sum, count) => sum + count, 0);
  }

  /** Adds a new record, which is in memory only. */
  admit({ kind, id, atMs, body, slots }: SpoolRecord, key: number, bornMs: number): void {
    const bytes = frameBytes(id, body.length);
    const content = { atMs, body, slots };
    this.add({ kind, id, key, bornMs, bytes, content, segment: null, offset: 0, gone: false });
  }

  /** Keys must grow from call to call, in each log. */
  add(entry: Entry): void {
    this.#queues[PRIORITY_OF_KIND[entry.kind]].push(entry);
    this.#ids[entry.kind].set(entry.id, entry);
    this.#records += 1;
    this.#bytes += entry.bytes;
  }

  /** Removes a waiting record. */
  remove(entry: Entry): void {
    this.#queues[PRIORITY_OF_KIND[entry.kind]].left(entry);
    this.#ids[entry.kind].delete(entry.id);
    this.#records -= 1;
    this.#bytes -= entry.bytes;
    entry.content = null;
  }

  /** Removes a record that was not accepted, and counts it. */
  drop(entry: Entry, reason: SpoolDropReason): void {
    this.remove(entry);
    this.refuse(entry.kind, reason);
  }

  /** Counts records that were never added. */
  refuse(kind: SpoolKind, reason: SpoolDropReason, count = 1): void {
    this.dropped[kind] += count;
    this.#onDropped(kind, count, reason);
  }

  find(key: number): Entry | null {
    return this.#queues.main.find(key) ?? this.#queues.spare.find(key);
  }

  firstOf(priority: LogPriority): Entry | null {
    return this.#queues[priority].first;
  }

  /** The oldest of the log that is not on disk and has a key above `after`. */
  firstInMemory(priority: LogPriority, after: number): Entry | null {
    for (const entry of this.#queues[priority].after(after))
      if (entry.segment === null) return entry;
    return null;
  }

  /** Both logs together, oldest first. Nothing may be removed during the iteration. */
  *after(after: number): Generator<Entry, void, undefined> {
    const spares = this.#queues.spare.after(after);
    const mains = this.#queues.main.after(after);
    let spare = spares.next().value;
    let main = mains.next().value;
    while (spare !== undefined || main !== undefined) {
      if (main === undefined || (spare !== undefined && spare.key < main.key)) {
        if (spare !== undefined) yield spare;
        spare = spares.next().value;
      } else {
        yield main;
        main = mains.next().value;
      }
    }
  }
}

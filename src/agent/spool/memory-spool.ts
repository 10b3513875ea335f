import { bootTimeMs } from '../../runtime/boot-clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import { frameBytes } from './frame.ts';
import { isWithinRecordLimits } from './record-limits.ts';
import type {
  SharedSpoolSpace,
  Spool,
  SpoolDropped,
  SpoolDropReason,
  SpooledRecord,
  SpoolKind,
  SpoolRecord,
} from './spool.ts';
import { SpoolIndex } from './spool-index.ts';
import { SpoolWaiters } from './spool-waiters.ts';

export interface MemorySpoolOptions {
  readonly clock: Clock;
  readonly onDropped: SpoolDropped;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** The spool of an agent without DATA_DIR: its records are lost when the process ends. */
export class MemorySpool implements Spool {
  readonly #options: MemorySpoolOptions;
  readonly #index: SpoolIndex;
  readonly #waiters = new SpoolWaiters();
  #lastKey = -1;
  #isOpen: boolean = true;
  readonly state = 'memory';
  readonly damagedFiles = 0;
  readonly freeBytes = Number.POSITIVE_INFINITY;

  constructor(options: MemorySpoolOptions) {
    this.#options = options;
    this.#index = new SpoolIndex(options.onDropped);
  }

  get depth(): Spool['depth'] {
    return this.#index.depth;
  }

  get dropped(): Spool['dropped'] {
    return this.#index.dropped;
  }

  get oldestAgeMs(): number | null {
    const { oldest } = this.#index;
    return oldest === null ? null : bootTimeMs(this.#options.clock) - oldest.bornMs;
  }

  put(record: SpoolRecord): void {
    const { kind, id, body } = record;
    const { clock, maxBytes } = this.#options;
    if (this.#index.has(kind, id)) return;
    if (!this.#isOpen || !isWithinRecordLimits(id, frameBytes(id, body.length), maxBytes)) {
      this.#index.refuse(kind, this.#isOpen ? 'space' : 'memory');
      return;
    }
    this.#lastKey += 1;
    this.#index.admit(record, this.#lastKey, bootTimeMs(clock));
    while (this.depth.bytes > maxBytes) {
      const victim = this.#index.firstOf('spare') ?? this.#index.firstOf('main');
      if (victim === null) break;
      this.#index.drop(victim, 'space');
    }
    this.#waiters.onReadable((after) => this.#isReadable(after));
  }

  committed(): Promise<void> {
    return Promise.resolve();
  }

  batch(maxBytes: number, after = -1): Promise<readonly SpooledRecord[]> {
    if (!this.#isOpen) return Promise.resolve([]);
    this.#expire();
    const records: SpooledRecord[] = [];
    let bytes = 0;
    for (const entry of this.#index.after(after)) {
      bytes += entry.bytes;
      if (records.length > 0 && bytes > maxBytes) break;
      const { key, kind, id, content } = entry;
      if (content !== null) records.push({ key, kind, id, ...content });
    }
    return Promise.resolve(records);
  }

  accepted(keys: readonly number[]): Promise<void> {
    for (const key of keys) {
      const entry = this.#index.find(key);
      if (entry !== null) this.#index.remove(entry);
    }
    return Promise.resolve();
  }

  has(kind: SpoolKind, id: string): boolean {
    return this.#index.has(kind, id);
  }

  discard(kind: SpoolKind, id: string, reason: SpoolDropReason): void {
    const entry = this.#index.get(kind, id);
    if (entry !== null) this.#index.drop(entry, reason);
  }

  forgetDamage(): void {}

  share(_beside: SharedSpoolSpace): void {}

  available(signal: AbortSignal, after = -1): Promise<boolean> {
    if (!this.#isOpen || signal.aborted) return Promise.resolve(false);
    return this.#waiters.available(after, signal, (key) => this.#isReadable(key));
  }

  close(): Promise<void> {
    this.#isOpen = false;
    this.#waiters.end();
    return Promise.resolve();
  }

  #isReadable(after: number): boolean {
    return this.#index.after(after).next().value !== undefined;
  }

  #expire(): void {
    const nowMs = bootTimeMs(this.#options.clock);
    for (
      let oldest = this.#index.oldest;
      oldest !== null && nowMs - oldest.bornMs > this.#options.maxAgeMs;
      oldest = this.#index.oldest
    ) {
      this.#index.drop(oldest, 'age');
    }
  }
}

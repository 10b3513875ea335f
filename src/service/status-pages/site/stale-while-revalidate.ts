import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/wait.ts';

/** The minimum interval between two reads of a value, however often it changes, unless the change is urgent. */
const MIN_INTERVAL_MS = 1_000;
/** A value is read again after this time even without a known change, because not every change is announced. */
const MAX_AGE_MS = 30_000;
/** How long a request waits for a newer value if there is an older one. */
const MAX_WAIT_MS = 1_000;

export interface CachedValue<Value> {
  readonly value: Value;
  /** The age of the value if no newer one could be read; else 0. */
  readonly staleMs: number;
}

export interface StaleWhileRevalidateParts {
  readonly clock: Clock;
  /** Whether changes are announced: if not, every request reads. */
  readonly isFollowed: () => boolean;
  /** Whether announcements are lost for now: a value may then be MIN_INTERVAL_MS old. */
  readonly isCutOff: () => boolean;
  /** Called when a cached value could not be read again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Stale-while-revalidate: re-reads a value after it changed, and serves the last one while reading fails
 * or takes longer than MAX_WAIT_MS.
 */
export class StaleWhileRevalidate<Value> {
  readonly #parts: StaleWhileRevalidateParts;
  #kept: { readonly value: Value; readonly readMs: number } | null = null;
  #reading: Promise<Value> | null = null;
  #begunMs = 0;
  #isInvalid: boolean = false;
  #isUrgent: boolean = false;
  #hasFailed: boolean = false;

  constructor(parts: StaleWhileRevalidateParts) {
    this.#parts = parts;
  }

  /** Call it when the value may have changed. */
  invalidate(): void {
    this.#isInvalid = true;
  }

  /**
   * Like `invalidate`, for a value that must no longer be shown: it is read again at once, and the result of a read
   * in progress is discarded.
   */
  invalidateNow(): void {
    this.#isInvalid = true;
    this.#isUrgent = true;
  }

  /**
   * @param read called if the value has to be read; no reference to it is kept
   * @throws what `read` throws, where there is no value yet
   */
  async get(read: () => Promise<Value>): Promise<CachedValue<Value>> {
    const { clock, isFollowed, isCutOff } = this.#parts;
    const nowMs = clock.monotonicMs();
    const kept = this.#kept;
    if (kept === null) return { value: await this.#read(read), staleMs: 0 };
    if (isFollowed()) {
      const maxAgeMs = isCutOff() ? MIN_INTERVAL_MS : MAX_AGE_MS;
      const isCurrent = !this.#isInvalid && !this.#hasFailed && nowMs - kept.readMs < maxAgeMs;
      const isTooSoon =
        !this.#isUrgent && this.#reading === null && nowMs - this.#begunMs < MIN_INTERVAL_MS;
      if (isCurrent || isTooSoon) return this.#shown(kept);
    }
    await this.#readInTime(read);
    return this.#shown(this.#kept ?? kept);
  }

  /** The cached value; null without one. */
  get known(): Value | null {
    return this.#kept?.value ?? null;
  }

  #shown({
    value,
    readMs,
  }: {
    readonly value: Value;
    readonly readMs: number;
  }): CachedValue<Value> {
    const isStale = this.#hasFailed || this.#isOverdue();
    return { value, staleMs: isStale ? this.#parts.clock.monotonicMs() - readMs : 0 };
  }

  #isOverdue(): boolean {
    return this.#reading !== null && this.#parts.clock.monotonicMs() - this.#begunMs >= MAX_WAIT_MS;
  }

  async #readInTime(read: () => Promise<Value>): Promise<void> {
    const reading = this.#read(read).then(
      () => {},
      () => {},
    );
    const leftMs = this.#begunMs + MAX_WAIT_MS - this.#parts.clock.monotonicMs();
    if (leftMs <= 0) return;
    const done = new AbortController();
    await Promise.race([
      reading.finally(() => done.abort()),
      sleep(this.#parts.clock, leftMs, done.signal),
    ]);
    done.abort();
  }

  /** Reads once for all concurrent callers. */
  #read(read: () => Promise<Value>): Promise<Value> {
    if (this.#reading !== null) return this.#reading;
    this.#begunMs = this.#parts.clock.monotonicMs();
    const reading = this.#readCurrent(read).then(
      ({ value, readMs }) => {
        this.#reading = null;
        this.#hasFailed = false;
        this.#kept = { value, readMs };
        return value;
      },
      (error: unknown) => {
        this.#reading = null;
        this.#hasFailed = true;
        this.#isInvalid = true;
        if (this.#kept !== null) this.#parts.onFailure(error);
        throw error;
      },
    );
    this.#reading = reading;
    return reading;
  }

  /** Reads again if `invalidateNow` was called in the meantime. */
  async #readCurrent(
    read: () => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly readMs: number }> {
    for (;;) {
      this.#isInvalid = false;
      this.#isUrgent = false;
      const readMs = this.#parts.clock.monotonicMs();
      const value = await read();
      if (!this.#isUrgent) return { value, readMs };
    }
  }
}

/** A record that failed this often on its own is skipped for a while. */
const MAX_FAILURES = 5;
/** If more records fail, they are not the cause: no further one is skipped. */
const MAX_SKIPPED = 3;
const SKIP_MS = 600_000;

/** Records that make the service fail: skips each for a while, so that it does not block others. */
export class FailingRecords {
  #last = { key: -1, failures: 0 };
  /** The monotonic instant of the next try, by key. */
  readonly #skipped = new Map<number, number>();

  /** The service failed on a batch of this record only. True: skip it for now. */
  failed(key: number, nowMs: number): boolean {
    if (this.#skipped.has(key)) return true;
    const failures = this.#last.key === key ? this.#last.failures + 1 : 1;
    this.#last = { key, failures };
    if (failures < MAX_FAILURES || this.#skipped.size >= MAX_SKIPPED) return false;
    this.#skipped.set(key, nowMs + SKIP_MS);
    return true;
  }

  /** The records left the spool. */
  settled(keys: readonly number[]): void {
    for (const key of keys) this.#skipped.delete(key);
  }

  /** The key of a record up to `after` that is to be tried again now, alone; null for none. */
  takeDue(after: number, nowMs: number): number | null {
    for (const [key, dueMs] of this.#skipped) {
      if (dueMs > nowMs || key > after) continue;
      this.#skipped.delete(key);
      // One more failure, and it is skipped again; or it has left the spool.
      this.#last = { key, failures: MAX_FAILURES - 1 };
      return key;
    }
    return null;
  }
}

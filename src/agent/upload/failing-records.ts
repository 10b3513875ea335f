/** A record that failed so often alone is skipped for now. */
const MAX_FAILURES = 5;
/** Where more of them fail it is not the records: then all of them wait. */
const MAX_SKIPPED = 3;
const SKIP_MS = 600_000;

/** Records that make the service fail: they are skipped for a while, and hold up no others. */
export class FailingRecords {
  #last = { key: -1, failures: 0 };
  /** By key, when they are tried again (monotonic). */
  readonly #skipped = new Map<number, number>();

  /** The service failed over this record alone. True: skip it for now. */
  failed(key: number, nowMs: number): boolean {
    if (this.#skipped.has(key)) return true;
    const failures = this.#last.key === key ? this.#last.failures + 1 : 1;
    this.#last = { key, failures };
    if (failures < MAX_FAILURES || this.#skipped.size >= MAX_SKIPPED) return false;
    this.#skipped.set(key, nowMs + SKIP_MS);
    return true;
  }

  /** They left the spool. */
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

interface Waiter {
  readonly key: number;
  readonly resolve: () => void;
}

interface Reader {
  readonly after: number;
  readonly resolve: (isThere: boolean) => void;
}

/** Callers that wait for a commit, or for a record to read. */
export class SpoolWaiters {
  #commits: Waiter[] = [];
  #removals: Waiter[] = [];
  readonly #readers = new Set<Reader>();

  /** Resolves when all records up to this key are on disk. */
  committed(key: number): Promise<void> {
    return new Promise((resolve) => this.#commits.push({ key, resolve }));
  }

  /** Resolves like `committed`, and also when the disk refuses writes. */
  removed(key: number): Promise<void> {
    return new Promise((resolve) => this.#removals.push({ key, resolve }));
  }

  /** Resolves true once `isReadable(after)`, and false when the signal aborts. */
  available(
    after: number,
    signal: AbortSignal,
    isReadable: (after: number) => boolean,
  ): Promise<boolean> {
    if (isReadable(after)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const onAbort = (): void => reader.resolve(false);
      const reader: Reader = {
        after,
        resolve: (isThere) => {
          this.#readers.delete(reader);
          signal.removeEventListener('abort', onAbort);
          resolve(isThere);
        },
      };
      this.#readers.add(reader);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  onCommitted(upToKey: number): void {
    this.#commits = release(this.#commits, upToKey);
    this.#removals = release(this.#removals, upToKey);
  }

  /** Call it when the disk refuses writes: removals do not wait for it. */
  onRemoved(): void {
    this.#removals = release(this.#removals, Number.POSITIVE_INFINITY);
  }

  onReadable(isReadable: (after: number) => boolean): void {
    for (const reader of [...this.#readers]) if (isReadable(reader.after)) reader.resolve(true);
  }

  end(): void {
    this.onCommitted(Number.POSITIVE_INFINITY);
    for (const reader of [...this.#readers]) reader.resolve(false);
  }
}

function release(waiters: readonly Waiter[], upToKey: number): Waiter[] {
  const [ready, rest] = [[] as Waiter[], [] as Waiter[]];
  for (const waiter of waiters) (waiter.key <= upToKey ? ready : rest).push(waiter);
  for (const { resolve } of ready) resolve();
  return rest;
}

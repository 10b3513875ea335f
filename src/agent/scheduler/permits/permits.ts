import PQueue from 'p-queue';

/** Allows one run to work (JOB_CONCURRENCY). */
export interface Permit {
  /**
   * Makes an attempt with the permit. A released permit is taken again first, ahead of runs that
   * have not begun. Settles as the attempt does.
   *
   * @param attempt calls `waits` when it only waits for its target. It then releases its permit as
   *   soon as fewer than `maxWaiting` runs wait, and needs no permit to end.
   */
  attempt<Value>(attempt: (waits: () => void) => Promise<Value>): Promise<Value>;
  /**
   * Releases the permit during a wait (the delay before a retry) and takes one again after it,
   * ahead of runs that have not begun. Resolves with the value of the wait.
   *
   * @param isOver whether the run ends with this value: then it takes no permit again
   */
  rest<Value>(wait: () => Promise<Value>, isOver?: (value: Value) => boolean): Promise<Value>;
}

export interface RunPermitsOptions {
  /** Maximum number of working runs, 1 or more (JOB_CONCURRENCY). */
  readonly concurrency: number;
  /** Runs that wait for their targets at once, 0 or more. */
  readonly maxWaiting: number;
  /** Called when a permit is free, after the runs that wait here. */
  readonly onFreed?: () => void;
}

const FRESH = 0;
const RETRY = 1;

/**
 * JOB_CONCURRENCY: how many runs work at once. A run that only waits, for its target or for its next
 * retry, has no permit: otherwise a hundred hanging targets would block the checks of all healthy
 * ones. Runs that wait for their targets use sockets and memory, so `maxWaiting` bounds them; beyond
 * it they retain their permits.
 */
export class RunPermits {
  readonly #queue: PQueue;
  readonly #maxWaiting: number;
  /** Permits that runs retain while they wait for their targets: `maxWaiting` is reached. */
  readonly #leaving = new Set<HeldPermit>();
  #waiting = 0;

  constructor({ concurrency, maxWaiting, onFreed }: RunPermitsOptions) {
    this.#maxWaiting = maxWaiting;
    this.#queue = new PQueue({ concurrency });
    if (onFreed !== undefined) this.#queue.on('next', onFreed);
  }

  /**
   * Runs `work` as soon as there is a permit, in the order of the calls; settles as it does. If a
   * permit is free, `work` has begun when this returns.
   */
  take(work: (permit: Permit) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#occupy(FRESH, (release) => {
        const permit = new HeldPermit(
          release,
          () => new Promise((granted) => this.#occupy(RETRY, granted)),
          (one) => this.#wait(one),
        );
        work(permit)
          .finally(() => permit.release())
          .then(resolve, reject);
      });
    });
  }

  /** Whether `take` would begin at once. */
  get isFree(): boolean {
    return this.#queue.pending < this.#queue.concurrency;
  }

  /** Working runs, without those that only wait. */
  get running(): number {
    return this.#queue.pending;
  }

  /** Runs that wait for their targets without a permit. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether runs retain their permits because `maxWaiting` is reached. */
  get isWaitingFull(): boolean {
    return this.#leaving.size > 0;
  }

  get queued(): number {
    return this.#queue.size;
  }

  #occupy(priority: number, granted: (release: () => void) => void): void {
    void this.#queue.add(() => new Promise<void>((release) => granted(release)), { priority });
  }

  /** Returns a function that ends the wait. */
  #wait(permit: HeldPermit): () => void {
    this.#leaving.add(permit);
    this.#admit();
    return () => {
      if (this.#leaving.delete(permit)) return;
      this.#waiting -= 1;
      this.#admit();
    };
  }

  #admit(): void {
    for (const permit of this.#leaving) {
      if (this.#waiting >= this.#maxWaiting) return;
      this.#leaving.delete(permit);
      this.#waiting += 1;
      permit.release();
    }
  }
}

class HeldPermit implements Permit {
  readonly #occupy: () => Promise<() => void>;
  readonly #wait: (permit: HeldPermit) => () => void;
  /** null while it is released. */
  #release: (() => void) | null;

  constructor(
    release: () => void,
    occupy: () => Promise<() => void>,
    wait: (permit: HeldPermit) => () => void,
  ) {
    this.#release = release;
    this.#occupy = occupy;
    this.#wait = wait;
  }

  release(): void {
    this.#release?.();
    this.#release = null;
  }

  async attempt<Value>(attempt: (waits: () => void) => Promise<Value>): Promise<Value> {
    this.#release ??= await this.#occupy();
    let endWait: (() => void) | null = null;
    try {
      return await attempt(() => {
        endWait ??= this.#wait(this);
      });
    } finally {
      (endWait as (() => void) | null)?.();
    }
  }

  async rest<Value>(
    wait: () => Promise<Value>,
    isOver: (value: Value) => boolean = () => false,
  ): Promise<Value> {
    this.release();
    let isOut = false;
    try {
      const value = await wait();
      isOut = isOver(value);
      return value;
    } finally {
      if (!isOut) this.#release = await this.#occupy();
    }
  }
}

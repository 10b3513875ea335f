import PQueue from 'p-queue';

/** A place among those that may work at once, held by one run. */
export interface Permit {
  /**
   * Makes an attempt in the place; one that was given up is taken again first, ahead of runs that
   * have not begun. Settles as the attempt does.
   *
   * @param attempt calls `waits` when all that is left to do is to wait for its peer. It then gives
   *   its place up as soon as there is room among those that wait, and needs none to end.
   */
  attempt<Value>(attempt: (waits: () => void) => Promise<Value>): Promise<Value>;
  /**
   * Gives the place up for a wait (the delay before a retry) and takes one again after it, ahead
   * of runs that have not begun. Resolves with what the wait resolved with.
   *
   * @param isOver whether the run ends with this value: it then takes no place any more
   */
  rest<Value>(wait: () => Promise<Value>, isOver?: (value: Value) => boolean): Promise<Value>;
}

export interface RunPermitsOptions {
  /** Runs at work at once, 1 or more (JOB_CONCURRENCY). */
  readonly concurrency: number;
  /** Runs that wait for their peers at once, 0 or more. */
  readonly maxWaiting: number;
  /** Told whenever a place was given up, after those that wait here had their turn. */
  readonly onFreed?: () => void;
}

const FRESH = 0;
const RETRY = 1;

/**
 * JOB_CONCURRENCY: how many runs work at once. A run that only waits, for its peer or for its next
 * retry, holds no place, or a hundred targets that hang would keep all healthy ones from being
 * looked at. Those that wait for their peers hold sockets and memory, and have a bound of their own;
 * where it is reached, the next ones keep their places.
 */
export class RunPermits {
  readonly #queue: PQueue;
  readonly #maxWaiting: number;
  /** They would give their places up, had those that wait room for them. */
  readonly #leaving = new Set<HeldPermit>();
  #waiting = 0;

  constructor({ concurrency, maxWaiting, onFreed }: RunPermitsOptions) {
    this.#maxWaiting = maxWaiting;
    this.#queue = new PQueue({ concurrency });
    if (onFreed !== undefined) this.#queue.on('next', onFreed);
  }

  /**
   * Runs `work` as soon as there is a place, in the order of the calls; settles as it does. Where
   * a place is free, `work` has begun when this returns.
   */
  take(work: (place: Permit) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#occupy(FRESH, (release) => {
        const place = new HeldPermit(
          release,
          () => new Promise((granted) => this.#occupy(RETRY, granted)),
          (one) => this.#wait(one),
        );
        work(place)
          .finally(() => place.giveUp())
          .then(resolve, reject);
      });
    });
  }

  /** Whether `take` would begin at once. */
  get isFree(): boolean {
    return this.#queue.pending < this.#queue.concurrency;
  }

  /** Runs at work, those left out that only wait. */
  get running(): number {
    return this.#queue.pending;
  }

  /** Runs that wait for their peers, and hold no place. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether runs keep their places because as many runs wait as may. */
  get isWaitingFull(): boolean {
    return this.#leaving.size > 0;
  }

  get queued(): number {
    return this.#queue.size;
  }

  #occupy(priority: number, granted: (release: () => void) => void): void {
    void this.#queue.add(() => new Promise<void>((release) => granted(release)), { priority });
  }

  /** Returns what ends the wait. */
  #wait(place: HeldPermit): () => void {
    this.#leaving.add(place);
    this.#admit();
    return () => {
      if (this.#leaving.delete(place)) return;
      this.#waiting -= 1;
      this.#admit();
    };
  }

  #admit(): void {
    for (const place of this.#leaving) {
      if (this.#waiting >= this.#maxWaiting) return;
      this.#leaving.delete(place);
      this.#waiting += 1;
      place.giveUp();
    }
  }
}

class HeldPermit implements Permit {
  readonly #occupy: () => Promise<() => void>;
  readonly #wait: (place: HeldPermit) => () => void;
  /** null where it was given up. */
  #release: (() => void) | null;

  constructor(
    release: () => void,
    occupy: () => Promise<() => void>,
    wait: (place: HeldPermit) => () => void,
  ) {
    this.#release = release;
    this.#occupy = occupy;
    this.#wait = wait;
  }

  giveUp(): void {
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
    this.giveUp();
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

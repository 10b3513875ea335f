import PQueue from 'p-queue';

/** A place among those that may work at once, held by one run. */
export interface Place {
  /**
   * Gives the place up for a wait (the delay before a retry) and takes one again after it, ahead
   * of runs that have not begun. Resolves with what the wait resolved with.
   *
   * @param isOver whether the run ends with this value: it then takes no place any more
   */
  rest<Value>(wait: () => Promise<Value>, isOver?: (value: Value) => boolean): Promise<Value>;
}

const FRESH = 0;
const RETRY = 1;

/**
 * JOB_CONCURRENCY: how many runs work at once. A run that only waits for its next retry holds no
 * place, or a hundred failing targets would keep all healthy ones from being looked at.
 */
export class Places {
  readonly #queue: PQueue;

  /** `onFreed` is told whenever a place was given up, after those that wait here had their turn. */
  constructor(concurrency: number, onFreed?: () => void) {
    this.#queue = new PQueue({ concurrency });
    if (onFreed !== undefined) this.#queue.on('next', onFreed);
  }

  /**
   * Runs `work` as soon as there is a place, in the order of the calls; settles as it does. Where
   * a place is free, `work` has begun when this returns.
   */
  take(work: (place: Place) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#occupy(FRESH, (firstRelease) => {
        let release = firstRelease;
        const rest: Place['rest'] = async (wait, isOver = () => false) => {
          release();
          let isOut = false;
          try {
            const value = await wait();
            isOut = isOver(value);
            return value;
          } finally {
            if (!isOut) release = await new Promise((granted) => this.#occupy(RETRY, granted));
          }
        };
        work({ rest })
          .finally(() => release())
          .then(resolve, reject);
      });
    });
  }

  /** Whether `take` would begin at once. */
  get isFree(): boolean {
    return this.#queue.pending < this.#queue.concurrency;
  }

  /** Runs at work, those at rest left out. */
  get running(): number {
    return this.#queue.pending;
  }

  get queued(): number {
    return this.#queue.size;
  }

  #occupy(priority: number, granted: (release: () => void) => void): void {
    void this.#queue.add(() => new Promise<void>((release) => granted(release)), { priority });
  }
}

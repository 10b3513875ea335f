import type { CheckSet, CheckSource } from '../../agent/source/check-source.ts';
import { isInTime } from '../../runtime/wait.ts';

/** The sets of checks that a source reports, in order. Keeps only the newest set that was not taken. */
export class FileWatch {
  readonly #signal: AbortSignal;
  readonly #watching: Promise<void>;
  #newest: CheckSet | null = null;
  #wake: () => void = () => {};

  /** @param signal ends the watching */
  constructor(source: CheckSource, signal: AbortSignal) {
    this.#signal = signal;
    const listener = {
      onChecks: (set: CheckSet): void => {
        this.#newest = set;
        this.#wake();
      },
      // A file never requests runs.
      onRun: (): void => {},
      onRunCancelled: (): void => {},
      onTrial: (): void => {},
    };
    this.#watching = source.watch(listener, signal);
    // `next` reports the rejection; without this it would be unhandled before and after.
    this.#watching.catch(() => {});
  }

  /**
   * The newest set that was not taken yet, or the next one; null when the signal aborts.
   *
   * @throws what the source throws: the first set cannot be read
   */
  async next(): Promise<CheckSet | null> {
    if (this.#newest === null && !this.#signal.aborted) {
      const next = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await isInTime(Promise.race([next, this.#watching]), this.#signal);
    }
    return this.#signal.aborted ? null : this.takeNewest();
  }

  /** The newest set that was not taken yet; null if there is none. */
  takeNewest(): CheckSet | null {
    const set = this.#newest;
    this.#newest = null;
    return set;
  }
}

/** Runs one thing after the other, in the order of the calls. A failed one does not stop the rest. */
export class Serial {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Those under way and those that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const done = this.#tail.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#tail = done.catch(() => {});
    return done;
  }

  /** Resolves when everything asked for so far has ended, well or badly. */
  async settled(): Promise<void> {
    await this.#tail;
  }
}

/** Runs work one by one, in the order of the calls. A failure does not stop the rest. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** How many calls are running or waiting. */
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

  /** Resolves when all work so far has succeeded or failed. */
  async settled(): Promise<void> {
    await this.#tail;
  }
}

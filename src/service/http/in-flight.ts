import type { ServerResponse } from 'node:http';

/** The requests in progress. */
export class InFlight {
  readonly #responses = new Set<ServerResponse>();
  #onEnd: (() => void)[] = [];

  /** Counts the response until it is sent or its connection is gone. */
  add(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      const waiting = this.#onEnd;
      this.#onEnd = [];
      for (const check of waiting) check();
    });
  }

  get size(): number {
    return this.#responses.size;
  }

  /** Resolves when all current requests have ended, or when the signal aborts. */
  settled(signal: AbortSignal): Promise<void> {
    const waitedFor = [...this.#responses];
    return new Promise((resolve) => {
      const check = (): void => {
        if (signal.aborted || !waitedFor.some((each) => this.#responses.has(each))) {
          signal.removeEventListener('abort', check);
          resolve();
        } else this.#onEnd.push(check);
      };
      signal.addEventListener('abort', check, { once: true });
      check();
    });
  }
}

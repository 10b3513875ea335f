import type { Clock } from './clock.ts';
import { sleep } from './wait.ts';

/** Ends a wait early. A ring outside of a wait ends the next wait at once. */
export class WakeSignal {
  #ring = new AbortController();

  readonly ring = (): void => this.#ring.abort();

  /** Waits for the ring, for `delayMs`, or until the signal aborts. */
  async wait(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', this.ring, { once: true });
    if (!signal.aborted) await sleep(clock, delayMs, this.#ring.signal);
    signal.removeEventListener('abort', this.ring);
    this.#ring = new AbortController();
  }
}

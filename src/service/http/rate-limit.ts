import type { Clock } from '../../runtime/clock.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import { tooManyRequests } from '../errors.ts';

const WINDOW_MS = 60_000;
const MAX_KEYS = 10_000;

interface Counted {
  readonly count: number;
  /** Monotonic. */
  readonly endMs: number;
}

/** Limits how often an action may happen per minute in this process for each key, such as an account or a client. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #counted = new LruCache<Counted>(MAX_KEYS);

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** @throws ServiceError 429 if the key was counted `max` times within a minute */
  check(key: string): void {
    const { count, endMs } = this.#current(key);
    if (count < this.#max) return;
    throw tooManyRequests(this.#max, Math.ceil((endMs - this.#clock.monotonicMs()) / 1_000));
  }

  count(key: string): void {
    const { count, endMs } = this.#current(key);
    this.#counted.set(key, { count: count + 1, endMs });
  }

  #current(key: string): Counted {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#counted.get(key);
    return known === undefined || known.endMs <= nowMs
      ? { count: 0, endMs: nowMs + WINDOW_MS }
      : known;
  }
}

import type { Clock } from '../../../runtime/clock.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { tooManyRequests } from '../../errors.ts';

const MAX_COMPARISONS_PER_MINUTE = 60;
const WINDOW_MS = 60_000;
const MAX_ACCOUNTS = 10_000;

/**
 * Bounds how often the users and keys of an account compare configurations: each comparison says whether a
 * guess of the secrets is right.
 */
export class ComparisonLimit {
  readonly #clock: Clock;
  /** `endMs` is of the monotonic clock. */
  readonly #counts = new LruCache<{ readonly count: number; readonly endMs: number }>(MAX_ACCOUNTS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ServiceError 429 for an account that has compared too often within a minute */
  count(accountId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#counts.get(accountId);
    const { count, endMs } =
      known === undefined || known.endMs <= nowMs ? { count: 0, endMs: nowMs + WINDOW_MS } : known;
    if (count >= MAX_COMPARISONS_PER_MINUTE) {
      throw tooManyRequests(MAX_COMPARISONS_PER_MINUTE, Math.ceil((endMs - nowMs) / 1_000));
    }
    this.#counts.set(accountId, { count: count + 1, endMs });
  }
}

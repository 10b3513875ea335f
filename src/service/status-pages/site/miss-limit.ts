import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { tooManyRequests } from '../../errors.ts';

const MAX_MISSES = 300;
const WINDOW_MS = 60_000;
const MAX_CLIENTS = 10_000;

interface Misses {
  readonly count: number;
  /** Monotonic. */
  readonly endMs: number;
}

/**
 * Bounds how often one client looks up what is not there, or names a new host for a page: each time
 * asks the database, or makes a document anew.
 */
export class MissLimit {
  readonly #clock: Clock;
  readonly #misses = new LruCache<Misses>(MAX_CLIENTS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Call before each look-up.
   *
   * @throws ServiceError 429 for a client that missed MAX_MISSES times within a minute
   */
  check({ ip }: Pick<FastifyRequest, 'ip'>): void {
    const { count, endMs } = this.#current(ip);
    if (count < MAX_MISSES) return;
    throw tooManyRequests(MAX_MISSES, Math.ceil((endMs - this.#clock.monotonicMs()) / 1_000));
  }

  /** Nothing was there, or the host was new. */
  count({ ip }: Pick<FastifyRequest, 'ip'>): void {
    const { count, endMs } = this.#current(ip);
    this.#misses.set(normalizeIP(ip), { count: count + 1, endMs });
  }

  #current(ip: string): Misses {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#misses.get(normalizeIP(ip));
    return known === undefined || known.endMs <= nowMs
      ? { count: 0, endMs: nowMs + WINDOW_MS }
      : known;
  }
}

import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import { RateLimit } from '../../http/rate-limit.ts';

const MAX_MISSES = 300;

/**
 * Limits how often one client may request pages that do not exist, or use a new host for a page: each time
 * the database is queried or a document is created.
 */
export class MissLimit {
  readonly #limit: RateLimit;

  constructor(clock: Clock) {
    this.#limit = new RateLimit(clock, MAX_MISSES);
  }

  /**
   * Call before each look-up.
   *
   * @throws ServiceError 429 for a client that missed MAX_MISSES times within a minute
   */
  check({ ip }: Pick<FastifyRequest, 'ip'>): void {
    this.#limit.check(normalizeIP(ip));
  }

  /** Call it if nothing was found, or the host was new. */
  count({ ip }: Pick<FastifyRequest, 'ip'>): void {
    this.#limit.count(normalizeIP(ip));
  }
}

import type { FastifyInstance, FastifyRequest } from 'fastify';

/** For each address; more of them get 429. */
const MAX_WRONG_KEYS_PER_MINUTE = 100;

/** Counts by the address of a request, and returns what it has left. */
export type CountWrongKeys = (
  request: FastifyRequest,
  options?: { increment: boolean },
) => Promise<
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly remaining: number;
      readonly max: number;
      readonly ttlInSeconds: number;
    }
>;

/** One counter for keys of all kinds. */
export function wrongKeysOf(app: FastifyInstance): CountWrongKeys {
  return app.createRateLimit({ max: MAX_WRONG_KEYS_PER_MINUTE });
}

import type { FastifyReply } from 'fastify';
import { ServiceError } from '../errors.ts';

/**
 * Aborts when the connection ends before the whole answer was sent: nobody waits for it then. The
 * reason is an answer, so that work that rejects with it is no fault of the service.
 */
export function clientGoneSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const check = (): void => {
    if (raw.writableFinished) return;
    gone.abort(new ServiceError(400, 'The client did not wait for the answer'));
  };
  if (raw.destroyed) check();
  else raw.once('close', check);
  return gone.signal;
}

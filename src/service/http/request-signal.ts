import type { FastifyReply } from 'fastify';

/** Aborts when the connection ends before the whole answer was sent: nobody waits for it then. */
export function clientGoneSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const check = (): void => {
    if (!raw.writableFinished) gone.abort();
  };
  if (raw.destroyed) check();
  else raw.once('close', check);
  return gone.signal;
}

import type { FastifyReply } from 'fastify';
import { ServiceError } from '../errors.ts';

/**
 * Aborts when the connection ends before the whole response was sent. The reason is a ServiceError 400, so that
 * work that rejects with it is not logged as a fault of the service.
 */
export function clientGoneSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const check = (): void => {
    if (raw.writableFinished) return;
    gone.abort(new ServiceError(400, 'The client disconnected'));
  };
  if (raw.destroyed) check();
  else raw.once('close', check);
  return gone.signal;
}

/** Runs long work with a signal that aborts when the client disconnects or the service stops. */
export async function whileClientWaits<T>(
  { raw }: Pick<FastifyReply, 'raw'>,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const unwanted = new AbortController();
  const end = (): void => unwanted.abort();
  if (stopping.aborted || raw.destroyed) end();
  stopping.addEventListener('abort', end, { once: true });
  raw.once('close', end);
  try {
    return await work(unwanted.signal);
  } finally {
    stopping.removeEventListener('abort', end);
    raw.off('close', end);
  }
}

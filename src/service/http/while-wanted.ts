import type { FastifyReply } from 'fastify';

/**
 * Does what may take long with a signal that aborts as soon as nobody waits for it any more: the
 * client is gone, or the service stops.
 */
export async function whileWanted<T>(
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

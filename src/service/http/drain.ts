import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';

/** More than this is not waited for: whoever sends on then loses the connection. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const LIMIT_MS = 5_000;

/**
 * Throws away what is still to come of a body that nobody wants. To hang up on a client that sends
 * would lose it the answer, and it would never know why.
 *
 * @returns false where it did not come to its end
 */
export function drain(request: IncomingMessage, clock: Clock): Promise<boolean> {
  const { headers } = request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'];
  if (!hasBody || request.complete || request.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Uint8Array): void => {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) done();
    };
    const done = (): void => {
      cancel();
      request.off('data', count).off('end', done).off('close', done).off('error', done);
      resolve(request.complete);
    };
    const cancel = clock.after(LIMIT_MS, done);
    request.on('end', done).on('close', done).on('error', done).on('data', count);
    request.resume();
  });
}

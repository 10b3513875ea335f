import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';

/** The most bytes to drain: a client that sends more loses the connection. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const LIMIT_MS = 5_000;

/**
 * Discards the rest of an unwanted body. If the connection closed while the client still sends, the
 * client would lose the answer.
 *
 * @returns false where the body did not end within the limits, or the connection closed before
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

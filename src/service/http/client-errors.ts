import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { errorBody } from '../errors.ts';

const MEANINGS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request was not sent in time'],
};

/** So long a client may take to read why its connection ends. */
const LINGER_MS = 1_000;

/**
 * For bytes that are no HTTP request: there is no request to answer, only a socket. It is always
 * destroyed in the end: the other side may leave its half open for as long as it likes.
 */
export function clientErrorHandler(
  clock: Clock,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // What comes in the middle of an answer would be taken for a part of it.
    if (!socket.writable || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const [status, message] = MEANINGS[error.code ?? ''] ?? [400, 'This is no valid HTTP request'];
    const body = JSON.stringify(errorBody(status, message));
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
    // To destroy it while the client sends would lose the answer.
    const cancel = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', cancel);
  };
}

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';

export interface ClientErrorOptions {
  readonly clock: Clock;
  /** Makes the answer from its status and a sentence with the reason. */
  readonly answer: (status: number, message: string) => ClientErrorResponse;
}

export interface ClientErrorResponse {
  readonly contentType: string;
  readonly body: string;
}

type ClientError = Error & { readonly code?: string };

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const MEANINGS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  [REQUEST_TIMEOUT]: [408, 'The request was not sent in time'],
};

/** The time for the client to read why its connection ends. */
const LINGER_MS = 1_000;

/**
 * Handles bytes that are not an HTTP request: there is no request to answer, only a socket. Always destroys
 * the socket in the end, because the other side may leave its half open forever.
 */
export class ClientErrors {
  readonly #options: ClientErrorOptions;
  readonly #lastRequests = new WeakMap<Socket, IncomingMessage>();

  constructor(options: ClientErrorOptions) {
    this.#options = options;
  }

  /** To be called for the server whose errors `handle` gets. */
  watch(server: Server): void {
    server.on('request', (request) => this.#lastRequests.set(request.socket, request));
  }

  /** The listener of `clientError`. */
  readonly handle = (error: ClientError, socket: Socket): void => {
    if (error.code !== REQUEST_TIMEOUT) {
      this.#refuse(error, socket);
      return;
    }
    // Node checks for late requests in its timers, before it reads. After a standstill of this process,
    // a request that has long arrived would be late: sockets are read between timers and immediates.
    const before = this.#lastWhole(socket);
    setImmediate(() => {
      if (this.#lastWhole(socket) === before) this.#refuse(error, socket);
    });
  };

  /** The last request of the socket, if it is complete. */
  #lastWhole(socket: Socket): IncomingMessage | null {
    const last = this.#lastRequests.get(socket);
    return last?.complete === true ? last : null;
  }

  #refuse({ code }: ClientError, socket: Socket): void {
    // In the middle of an answer it would be read as a part of it.
    if (!socket.writable || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const [status, message] = MEANINGS[code ?? ''] ?? [400, 'This is not a valid HTTP request'];
    const { contentType, body } = this.#options.answer(status, message);
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
    // Destroying it while the client sends would lose the answer.
    const cancel = this.#options.clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', cancel);
  }
}

import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { endingOf, isCutOff, watchSocket } from './endings.ts';
import { ResponseStart } from './response-start.ts';
import {
  boundedStatusText,
  type Ending,
  type HopRequest,
  resultHeaders,
  type Transport,
  type TransportEvents,
} from './transport.ts';

/** Our deadline ends everything; the library's own timers would only blur whose end it was. */
const CLIENT_OPTIONS: Client.Options = {
  headersTimeout: 0,
  bodyTimeout: 0,
  // No second request will come: the server is told so with Connection: close.
  pipelining: 0,
  allowH2: false,
};

/** One object for all ends: an error of its own for each would cost a stack trace. */
const OVER = new Error('the exchange is over');

function ignore(): void {}

/** Sends one request over a connected socket by HTTP/1.1; the socket is the transport's then. */
export function startHttp1(
  socket: Socket,
  request: HopRequest,
  events: TransportEvents,
  maxHeaderBytes: number,
): Transport {
  const evidence = watchSocket(socket);
  let controller: Dispatcher.DispatchController | null = null;
  let responded = false;
  let over = false;

  const start = new ResponseStart(() => events.firstByte(), maxHeaderBytes);
  const end = (ending: Ending): void => {
    if (over) return;
    over = true;
    events.failed(ending);
  };
  const fail = (error: unknown): void => end(endingOf(error, evidence, responded));
  readThrough(socket, start, () => {
    const what = `the answer is not HTTP: it begins with ${start.foreign}`;
    if (start.foreign !== null) end({ code: 'PROTOCOL_ERROR', what });
    else fail({ code: 'UND_ERR_HEADERS_OVERFLOW' });
  });

  const client = new Client(request.url.origin, {
    ...CLIENT_OPTIONS,
    maxHeaderSize: maxHeaderBytes,
    connect: handOver(socket),
  });
  client.dispatch(
    {
      path: request.requestTarget ?? `${request.url.pathname}${request.url.search}`,
      method: request.method as Dispatcher.HttpMethod,
      headers: request.headers.flat(),
      body: request.body,
    },
    {
      onRequestStart(started) {
        controller = started;
      },
      onResponseStart(_controller, status, headers, statusText) {
        if (over) return;
        responded = true;
        events.head({
          status,
          statusText: boundedStatusText(statusText ?? ''),
          httpVersion: start.version,
          headers: resultHeaders(headers),
        });
      },
      onResponseData(_controller, chunk) {
        if (!over) events.data(chunk);
      },
      onResponseEnd() {
        // A body that ends with the connection seems complete to the parser where it was cut.
        if (isCutOff(evidence)) fail(evidence.error);
        else if (!over) {
          over = true;
          events.end();
        }
      },
      onResponseError(_controller, error) {
        fail(error);
      },
    },
  );

  return {
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    destroy() {
      over = true;
      controller?.abort(OVER);
      client.destroy(OVER, ignore);
      socket.destroy();
    },
  };
}

/**
 * The library's connector. It asks again where the connection was lost before the request was
 * written; a check makes no second connection, so that is the end.
 */
function handOver(socket: Socket): NonNullable<Client.Options['connect']> {
  let given = false;
  return (_options, callback) => {
    if (given) {
      callback(OVER, null);
      return;
    }
    given = true;
    // Called back while it still sets up, the client would never send the request.
    queueMicrotask(() => callback(null, socket));
  };
}

/** Leads what is read through the response's start, as long as that has something to look for. */
function readThrough(socket: Socket, start: ResponseStart, refuse: () => void): void {
  const read = socket.read;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = read.call(socket, size);
      if (chunk === null) return null;
      const bytes = start.take(chunk);
      if (start.passing) socket.read = read;
      if (start.overflowed || start.foreign !== null) {
        refuse();
        socket.destroy();
        return null;
      }
      if (bytes !== null) return bytes;
    }
  };
}

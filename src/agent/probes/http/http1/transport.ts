import type { Socket } from 'node:net';
import type { Scrub } from '../../../secrets/cut-scrubbed.ts';
import { describeConnectionEnd, isCutOff, watchSocket } from '../connection-end.ts';
import {
  type ExchangeEnd,
  type HopRequest,
  resultHeaders,
  type Transport,
  type TransportEvents,
} from '../transport.ts';
import { requestHead } from './request-head.ts';
import { ResponseParser } from './response-parser.ts';
import { ResponseStart } from './response-start.ts';

const HEADERS_TOO_LARGE = { code: 'HEADERS_TOO_LARGE' };
const UNSENDABLE = { code: 'UNSENDABLE_REQUEST' };
const CLOSED = { code: 'CONNECTION_ENDED', message: 'the connection ended' };

/**
 * Sends one request over a connected socket by HTTP/1.1; the transport then owns the socket.
 *
 * @param scrub for an answer that is not HTTP and is quoted in part
 */
export function startHttp1(
  socket: Socket,
  request: HopRequest,
  events: TransportEvents,
  maxHeaderBytes: number,
  scrub: Scrub,
): Transport {
  const evidence = watchSocket(socket);
  let responded = false;
  let over = false;
  let endsBy: 'read' | 'connection' = 'read';

  const end = (ending: ExchangeEnd): void => {
    if (over) return;
    over = true;
    events.failed(ending);
  };
  const fail = (error: unknown): void => end(describeConnectionEnd(error, evidence, responded));
  const start = new ResponseStart(() => events.firstByte(), maxHeaderBytes, scrub);
  const parser = new ResponseParser(request.method, maxHeaderBytes, {
    head({ status, statusText, headers }) {
      if (over) return;
      responded = true;
      events.head({
        status,
        statusText,
        httpVersion: start.version,
        headers: resultHeaders(headers),
      });
    },
    data(piece) {
      if (!over) events.data(piece);
    },
    end() {
      // The parser takes a body that ends with the connection as complete even if it was cut.
      if (isCutOff(evidence)) fail(evidence.error);
      else if (!over) {
        over = true;
        events.end(endsBy);
      }
    },
  });
  const onData = (chunk: Buffer): void => {
    if (over) return;
    const bytes = start.passing ? chunk : start.take(chunk);
    if (start.foreign !== null) {
      const what = `the answer is not HTTP: it begins with ${start.foreign}`;
      end({ code: 'PROTOCOL_ERROR', what });
    } else if (start.overflowed) fail(HEADERS_TOO_LARGE);
    else if (bytes !== null) {
      const error = parser.execute(bytes);
      if (error !== null) fail(error);
    }
    if (!over) events.read();
  };
  /** Many servers end TLS without close_notify: for a body without a length, that is its end. */
  const onEnd = (): void => {
    if (over) return;
    endsBy = 'connection';
    const outcome = isCutOff(evidence) ? evidence.error : parser.finish();
    if (outcome !== true) fail(outcome === false ? CLOSED : outcome);
  };

  /** An exception in a listener would end the process, and all other checks with it. */
  const guarded =
    <Args extends unknown[]>(listener: (...args: Args) => void) =>
    (...args: Args): void => {
      try {
        listener(...args);
      } catch (thrown) {
        over = true;
        events.fault(thrown);
      }
    };

  socket.on('data', guarded(onData));
  socket.once('end', guarded(onEnd));
  socket.once('error', fail);
  // For a close without an event, as of a tunnel's inner connection.
  socket.once('close', guarded(onEnd));
  const head = requestHead(request);
  // A closed socket emits no more events.
  if (socket.destroyed || socket.readableEnded) fail(socket.errored ?? CLOSED);
  else if (head === null) fail(UNSENDABLE);
  else if (request.body === null) socket.write(head, 'latin1');
  else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(request.body);
    socket.uncork();
  }

  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    destroy() {
      over = true;
      parser.free();
      socket.destroy();
    },
  };
}

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { messageOf, systemCodeOf } from '../../../../runtime/errors.ts';
import { describeConnectionEnd, type SocketEvidence, watchSocket } from '../connection-end.ts';
import {
  type ExchangeEnd,
  type HopRequest,
  resultHeaders,
  type Transport,
  type TransportEvents,
} from '../transport.ts';
import { describeHttp2End } from './http2-error.ts';

/** The flow-control window of a stream. More only costs memory, less costs round trips. */
const WINDOW_BYTES = 1024 * 1024;
/** Maximum number of header fields; their size is limited in bytes as for HTTP/1. */
const MAX_HEADER_PAIRS = 2000;
/** The connection broke between its handshake and the request. */
const LOST = { code: 'ECONNRESET' };
/** Fields that belong to an HTTP/1 connection (RFC 9113 8.2.2); Host becomes :authority. */
const NOT_IN_HTTP2: ReadonlySet<string> = new Set(['host', 'te', 'http2-settings']);

/**
 * Sends one request over a connected socket by HTTP/2; the transport then owns the socket.
 *
 * Uses node:http2 itself, not undici's client over it: that client reports a stream that was reset
 * in the middle of its body as complete, and a complete response as failed if the server also says
 * by GOAWAY that it takes no further requests.
 */
export function startHttp2(
  socket: Socket,
  request: HopRequest,
  events: TransportEvents,
  maxHeaderBytes: number,
): Transport {
  const evidence = watchSocket(socket);
  if (socket.destroyed)
    return failedBefore(socket, describeConnectionEnd(LOST, evidence, false), events);
  const session = connect(request.url.origin, {
    createConnection: () => socket,
    settings: {
      enablePush: false,
      initialWindowSize: WINDOW_BYTES,
      maxHeaderListSize: maxHeaderBytes,
    },
    maxHeaderListPairs: MAX_HEADER_PAIRS,
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  // The stream reports the error as well; without a listener, it would be thrown.
  session.on('error', () => {});

  let stream: ClientHttp2Stream;
  try {
    stream = session.request(headersOf(request), { endStream: request.body === null });
  } catch (error) {
    session.destroy();
    const what = `the request could not be formed (${systemCodeOf(error) ?? messageOf(error)})`;
    return failedBefore(socket, { code: 'INTERNAL_ERROR', what }, events);
  }
  if (request.body !== null) stream.end(request.body);
  follow(stream, session, { request, evidence, events, maxHeaderBytes });
  return {
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    destroy() {
      stream.removeAllListeners();
      stream.on('error', () => {});
      // We may be inside an event of the stream, in the middle of the data that was just read.
      // nghttp2 before 1.68.1 aborts the whole process if a session is ended there and a frame of a
      // wrong size follows (CVE-2026-27135). One event-loop iteration later, all of it is
      // processed.
      setImmediate(() => {
        session.destroy();
        socket.destroy();
      });
    },
  };
}

function failedBefore(socket: Socket, ending: ExchangeEnd, events: TransportEvents): Transport {
  queueMicrotask(() => events.failed(ending));
  return { pause() {}, resume() {}, destroy: () => socket.destroy() };
}

interface Following {
  readonly request: HopRequest;
  readonly evidence: SocketEvidence;
  readonly events: TransportEvents;
  readonly maxHeaderBytes: number;
}

function follow(stream: ClientHttp2Stream, session: ClientHttp2Session, to: Following): void {
  const { request, evidence, events, maxHeaderBytes } = to;
  let responded = false;
  let over = false;
  let goaway = false;
  let expectedBytes: number | null = null;
  let receivedBytes = 0;
  let interimBytes = 0;

  const fail = (error: unknown): void => {
    if (over) return;
    over = true;
    // 0 also stands for no reset at all.
    const resetCode = stream.rstCode ?? 0;
    const closed = evidence.ended || session.destroyed;
    const short = expectedBytes !== null && receivedBytes < expectedBytes;
    events.failed(
      describeHttp2End({ error, resetCode, goaway, closed, short, evidence, responded }),
    );
  };
  session.once('goaway', () => {
    goaway = true;
  });
  stream.on('headers', (headers) => {
    // All interim responses together have the same limit as in HTTP/1.
    interimBytes += bytesOf(headers);
    if (interimBytes > maxHeaderBytes) fail({ code: 'HEADERS_TOO_LARGE' });
    else if (!over) events.read();
  });
  stream.once('response', (headers) => {
    events.firstByte();
    // Node enforces the limit only after the server has acknowledged our settings.
    if (bytesOf(headers) > maxHeaderBytes) {
      fail({ code: 'HEADERS_TOO_LARGE' });
      return;
    }
    responded = true;
    if (request.method !== 'HEAD') expectedBytes = contentLengthOf(headers);
    events.head({
      status: headers[':status'] ?? 0,
      statusText: '',
      httpVersion: '2',
      headers: resultHeaders(Object.entries(fieldsOf(headers))),
    });
  });
  stream.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (!over) events.data(chunk);
    if (!over) events.read();
  });
  stream.once('end', () => {
    // A reset also ends the stream; its code is known by now.
    const isShort = expectedBytes !== null && receivedBytes < expectedBytes;
    if (over) return;
    if (!responded || isShort || (stream.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) fail(null);
    else {
      over = true;
      events.end('read');
    }
  });
  stream.on('error', fail);
  stream.once('close', () => fail(null));
}

function headersOf(request: HopRequest): OutgoingHttpHeaders {
  const { method, url } = request;
  const headers: Record<string, string> = {};
  for (const [name, value] of request.headers) {
    const key = name.toLowerCase();
    if (NOT_IN_HTTP2.has(key)) continue;
    const known = headers[key];
    // RFC 9110 5.3; Cookie has its own separator (RFC 9113 8.2.3).
    headers[key] =
      known === undefined ? value : `${known}${key === 'cookie' ? '; ' : ', '}${value}`;
  }
  const host = request.headers.find(([name]) => name.toLowerCase() === 'host');
  return {
    ...headers,
    ':method': method,
    ':scheme': url.protocol.slice(0, -1),
    ':authority': host?.[1] ?? url.host,
    ':path': `${url.pathname}${url.search}`,
  };
}

function fieldsOf(headers: IncomingHttpHeaders): Record<string, string | string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
}

function bytesOf(headers: IncomingHttpHeaders): number {
  let bytes = 0;
  for (const [name, value = ''] of Object.entries(headers)) {
    const values = Array.isArray(value) ? value : [String(value)];
    for (const text of values) bytes += name.length + text.length;
  }
  return bytes;
}

function contentLengthOf(headers: IncomingHttpHeaders): number | null {
  const text = headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

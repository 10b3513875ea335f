import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createSelfSigned, type Identity } from '../../support/servers/certificates.ts';
import {
  END_HEADERS,
  FRAME,
  frame,
  hasHeaders,
  headerBlock,
} from '../../support/servers/http2/frames.ts';

const WRITE_BYTES = 64 * 1024;
const PREFACE_BYTES = 24;
const MIB = 1024 * 1024;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const HEAD = frame(FRAME.headers, END_HEADERS, headerBlock());
const NOTHING = Buffer.alloc(0);
const ONE = Buffer.from([0, 0, 0, 1]);
const PADDED = 0x8;

/** A response without end: a start, then one piece again and again. */
interface Flood {
  readonly name: string;
  readonly over: 'HTTP/1.1' | 'HTTP/1.1 over TLS' | 'HTTP/2';
  readonly start: Buffer;
  readonly piece: Buffer;
  /** Each piece is a write, and so a TLS record, of its own. */
  readonly isAlone?: boolean;
}

export interface FloodServer {
  readonly name: string;
  readonly url: string;
}

function http1(name: string, start: string, piece: string | Buffer): Flood {
  return { name, over: 'HTTP/1.1', start: Buffer.from(start), piece: Buffer.from(piece) };
}

function http2(name: string, ...frames: readonly [...Buffer[], Buffer]): Flood {
  const settings = frame(FRAME.settings, 0, NOTHING, 0);
  const start = Buffer.concat([settings, ...frames.slice(0, -1)]);
  return { name, over: 'HTTP/2', start, piece: frames.at(-1) ?? NOTHING };
}

function compressed(coding: string, piece: Buffer): Flood {
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nConnection: close\r\n\r\n`;
  return http1(`${coding} of zeros`, head, piece);
}

const FLOODS: readonly Flood[] = [
  http1('a chunk extension', `${CHUNKED}1;`, 'abcdefgh'),
  http1('the zeros of a chunk size', CHUNKED, '0'),
  http1('line breaks', '', '\r\n'),
  http1('spaces before a value', 'HTTP/1.1 200 OK\r\nX:', ' '),
  http1('chunks of one byte', CHUNKED, '1\r\nx\r\n'),
  http1('chunks with extensions', CHUNKED, '1;a=b\r\nx\r\n'),
  http1('interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'),
  http1('header fields', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'),
  http1('trailers', `${CHUNKED}0\r\n`, 'A: b\r\n'),
  http1('a body', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', 'x'),
  compressed('gzip', gzipSync(Buffer.alloc(16 * MIB))),
  compressed('br', brotliCompressSync(Buffer.alloc(16 * MIB))),
  {
    ...http1('a TLS record for each byte', CHUNKED, '1\r\nx\r\n'),
    over: 'HTTP/1.1 over TLS',
    isAlone: true,
  },
  http2('WINDOW_UPDATE of the connection', frame(0x8, 0, ONE, 0)),
  http2('WINDOW_UPDATE of the stream', HEAD, frame(0x8, 0, ONE)),
  http2('DATA of padding', HEAD, frame(FRAME.data, PADDED, Buffer.from([1, 0]))),
  http2('DATA of one byte', HEAD, frame(FRAME.data, 0, Buffer.from('x'))),
  http2('empty DATA', HEAD, frame(FRAME.data, 0, NOTHING)),
  http2('ALTSVC', frame(0xa, 0, Buffer.from('\0\u0003a:1h2=":1"', 'latin1'), 0)),
  http2('PRIORITY', frame(0x2, 0, Buffer.from([0, 0, 0, 3, 1]))),
  http2('frames of an unknown type', frame(0x42, 0, NOTHING, 0)),
  http2('PING', HEAD, frame(0x6, 0, Buffer.alloc(8), 0)),
  http2('SETTINGS', frame(FRAME.settings, 0, NOTHING, 0)),
  http2(
    'CONTINUATION',
    frame(FRAME.headers, 0, headerBlock()),
    frame(FRAME.continuation, 0, NOTHING),
  ),
];

/** One server for each kind of response that never ends, and one that answers at once. */
export async function withFloodServers<Value>(
  work: (floods: readonly FloodServer[], answering: string) => Promise<Value>,
): Promise<Value> {
  const identity = await createSelfSigned({ names: ['localhost'] });
  const servers: Server[] = [];
  const listen = async (server: Server): Promise<string> => {
    servers.push(server);
    await promisify<number, string>(server.listen).call(server, 0, '127.0.0.1');
    const address = server.address();
    return `localhost:${typeof address === 'object' ? address?.port : ''}/`;
  };
  try {
    const floods: FloodServer[] = [];
    for (const flood of FLOODS) {
      const place = await listen(serverOf(flood, identity));
      const scheme = flood.over === 'HTTP/1.1' ? 'http' : 'https';
      floods.push({ name: flood.name, url: `${scheme}://${place}` });
    }
    const answer = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    return await work(floods, `http://${await listen(answer)}`);
  } finally {
    for (const server of servers) server.close();
  }
}

function serverOf(flood: Flood, identity: Identity): Server {
  const onPeer = (socket: Socket): void => {
    socket.on('error', () => {});
    let received: Buffer = NOTHING;
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const hasRequest =
        flood.over === 'HTTP/2'
          ? hasHeaders(received.subarray(PREFACE_BYTES))
          : received.includes('\r\n\r\n');
      if (!hasRequest) return;
      socket.off('data', onData);
      socket.resume();
      socket.write(flood.start);
      send(socket, flood);
    };
    socket.on('data', onData);
  };
  if (flood.over === 'HTTP/1.1') return createServer({ noDelay: true }, onPeer);
  const ALPNProtocols = [flood.over === 'HTTP/2' ? 'h2' : 'http/1.1'];
  return createTlsServer({ ...identity, ALPNProtocols, noDelay: true }, onPeer);
}

function send(socket: Socket, { piece, isAlone = false }: Flood): void {
  const times = isAlone ? 1 : Math.ceil(WRITE_BYTES / piece.length);
  const bytes = Buffer.concat(Array.from({ length: times }, () => piece));
  const more = (): void => {
    while (!socket.destroyed) {
      if (!socket.write(bytes)) return;
    }
  };
  socket.on('drain', more);
  more();
}

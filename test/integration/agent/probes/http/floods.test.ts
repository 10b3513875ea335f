import { createDeflateRaw, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { BodyReader } from '../../../../../src/agent/probes/http/body/body-reader.ts';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer } from '../../../../support/servers/http-servers.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headerBlock,
} from '../../../../support/servers/http2/frames.ts';
import { rawHttp2Server } from '../../../../support/servers/http2/raw-server.ts';

const WRITE_BYTES = 64 * 1024;
/** Far beyond the test's own time limit. */
const DEADLINE_MS = 3_600_000;
const MAX_FREE_BYTES = 2 * 1024 * 1024;
const MAX_FRAMING_BYTES = 16 * 1024 * 1024;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

function repeated(piece: string | Buffer): Buffer {
  const bytes = Buffer.from(piece);
  return Buffer.concat(Array.from({ length: Math.ceil(WRITE_BYTES / bytes.length) }, () => bytes));
}

function framingBytesOf(message: string | undefined): number {
  return Number(/only framing: (\d+) bytes/.exec(message ?? '')?.[1]);
}

describe('HTTP/1.1 without end', () => {
  /** Sends the start, then the piece again and again. @returns why the attempt failed */
  async function flooded(start: string, piece: string) {
    const server = await rawServer(async (peer) => {
      await peer.request();
      await peer.send(start);
      const flood = repeated(piece);
      while (!peer.socket.destroyed) await peer.send(flood);
    });
    const context = makeContext({ deadlineInMs: DEADLINE_MS });
    const { failure } = await probe(server.url(), { context });
    await server.idle();
    return failure;
  }

  test.each([
    ['a chunk extension', `${CHUNKED}1;`, 'abcdefgh', MAX_FREE_BYTES],
    ['the zeros of a chunk size', CHUNKED, '0', MAX_FREE_BYTES],
    ['line breaks before the status line', '', '\r\n', MAX_FREE_BYTES],
    ['spaces before a header value', 'HTTP/1.1 200 OK\r\nX:', ' ', MAX_FREE_BYTES],
    ['spaces before a trailer value', `${CHUNKED}0\r\nX:`, ' ', MAX_FREE_BYTES],
    ['chunks of one byte', CHUNKED, '1\r\nx\r\n', MAX_FRAMING_BYTES],
    ['chunks of one byte with extensions', CHUNKED, '1;a=b\r\nx\r\n', MAX_FRAMING_BYTES],
  ])('%s: RESPONSE_FLOOD, as soon as there is too much', async (_name, start, piece, maxBytes) => {
    const failure = await flooded(start, piece);
    expect(failure?.code).toBe('RESPONSE_FLOOD');
    // At most one read of the socket above the limit.
    const framingBytes = framingBytesOf(failure?.message);
    expect(framingBytes).toBeGreaterThan(maxBytes);
    expect(framingBytes).toBeLessThanOrEqual(maxBytes + WRITE_BYTES);
  });

  test.each([
    ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['trailers', `${CHUNKED}0\r\n`, 'A: b\r\n'],
  ])('%s: HEADERS_TOO_LARGE', async (_name, start, piece) => {
    const failure = await flooded(start, piece);
    expect(failure?.code).toBe('HEADERS_TOO_LARGE');
  });
});

describe('HTTP/2', () => {
  const HEAD = frame(FRAME.headers, END_HEADERS, headerBlock());
  const ONE = Buffer.from([0, 0, 0, 1]);
  const PADDED = 0x8;
  const NOTHING = Buffer.alloc(0);

  let identity: Identity;
  beforeAll(async () => {
    identity = await createSelfSigned({ names: ['localhost'] });
  });

  async function flooded(...frames: readonly [...Buffer[], Buffer]) {
    const flood = repeated(frames.at(-1) ?? NOTHING);
    const url = await rawHttp2Server(identity, async (peer) => {
      await peer.send(...frames.slice(0, -1));
      while (!peer.gone) await peer.send(flood);
    });
    const context = makeContext({ deadlineInMs: DEADLINE_MS });
    const { failure } = await probe(url, { context, request: { skipSSL: true } });
    return failure;
  }

  test.each([
    ['WINDOW_UPDATE of the connection', [frame(0x8, 0, ONE, 0)]],
    ['WINDOW_UPDATE of the stream', [HEAD, frame(0x8, 0, ONE)]],
    ['DATA that is only padding', [HEAD, frame(FRAME.data, PADDED, Buffer.from([1, 0]))]],
    ['ALTSVC', [frame(0xa, 0, Buffer.from('\0\u0003a:1h2=":1"', 'latin1'), 0)]],
  ] as const)('%s without end: RESPONSE_FLOOD', async (_name, frames) => {
    const failure = await flooded(...frames);
    expect(failure?.code).toBe('RESPONSE_FLOOD');
    expect(framingBytesOf(failure?.message)).toBeGreaterThan(MAX_FREE_BYTES);
  });

  test('interim responses without end: HEADERS_TOO_LARGE, as over HTTP/1.1', async () => {
    const interim = headerBlock({ ':status': '103' }).subarray(1);
    const failure = await flooded(frame(FRAME.headers, END_HEADERS, interim));
    expect(failure?.code).toBe('HEADERS_TOO_LARGE');
  });

  test.each([
    ['PRIORITY', [frame(0x2, 0, Buffer.from([0, 0, 0, 3, 1]))]],
    ['frames of an unknown type', [frame(0x42, 0, NOTHING, 0)]],
    ['PING', [HEAD, frame(0x6, 0, Buffer.alloc(8), 0)]],
    ['SETTINGS', [frame(FRAME.settings, 0, NOTHING, 0)]],
    ['empty DATA', [HEAD, frame(FRAME.data, 0, NOTHING)]],
  ] as const)('%s without end does not last until the deadline', async (_name, frames) => {
    // node:http2 has limits of its own for these, and Node 24 more of them than Node 20.
    expect((await flooded(...frames))?.code).toMatch(
      /^(RESPONSE_FLOOD|PROTOCOL_ERROR|BODY_TRUNCATED|CONNECTION_(CLOSED|RESET))$/,
    );
  });

  test('100 KB of body in frames of one byte are taken', async () => {
    const one = frame(FRAME.data, 0, Buffer.from('x'));
    const thousand = Array.from({ length: 1000 }, () => one);
    const url = await rawHttp2Server(identity, async (peer) => {
      await peer.send(HEAD);
      // One TLS record per piece, as from a server that flushes.
      for (const each of thousand) await peer.send(each);
      for (let sent = 1000; sent < 100_000; sent += 1000) await peer.send(...thousand);
      await peer.send(frame(FRAME.data, END_STREAM, NOTHING));
    });
    const { failure, response } = await probe(url, { request: { skipSSL: true } });
    expect(failure).toBeNull();
    expect(response?.bodyBytes).toBe(100_000);
  });
});

describe('valid responses that are slow or in pieces', () => {
  test('100 KB of body in chunks of one byte are taken', async () => {
    const body = '1\r\nx\r\n'.repeat(1000);
    const parts = Array.from({ length: 100 }, () => body);
    const server = await rawServer(answering(CHUNKED, ...parts, '0\r\n\r\n'));
    const { failure, response } = await probe(server.url());
    expect(failure).toBeNull();
    expect(response?.bodyBytes).toBe(100_000);
  });

  test('25 MB in chunks of 500 bytes are taken', async () => {
    const chunks = `1f4\r\n${'x'.repeat(500)}\r\n`.repeat(1000);
    const parts = Array.from({ length: 50 }, () => chunks);
    const server = await rawServer(answering(CHUNKED, ...parts, '0\r\n\r\n'));
    const { failure, response } = await probe(server.url());
    expect(failure).toBeNull();
    expect(response?.bodyBytes).toBe(25_000_000);
  });

  test('a long poll with an interim response each second is waited for', async () => {
    const clock = new FakeClock();
    const server = await rawServer(async (peer) => {
      await peer.request();
      for (let second = 0; second < 29; second += 1) {
        await peer.send('HTTP/1.1 102 Processing\r\n\r\n');
        await clock.advance(1000);
      }
      await peer.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      peer.close();
    });
    const context = makeContext({ clock, deadlineInMs: 30_000 });
    const { failure, response } = await probe(server.url(), { context });
    expect(failure).toBeNull();
    expect(response?.body).toBe('ok');
    expect(clock.pendingTimers).toBe(0);
  });

  test('a compressed body byte by byte is whole, and its decoder is not called for each', async () => {
    const text = await incompressible(6000);
    const body = gzipSync(text);
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const server = await rawServer(async (peer) => {
      await peer.request();
      await peer.send(head);
      for (const byte of body) {
        await peer.send(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      peer.close();
    });
    const write = vi.spyOn(BodyReader.prototype, 'write');
    const context = makeContext({ deadlineInMs: DEADLINE_MS });
    const { failure, body: got } = await probe(server.url(), { context });
    const writes = write.mock.calls.length;
    write.mockRestore();
    expect(failure).toBeNull();
    expect(got).toEqual(text);
    // The first 1000 at once, then one per several hundred pieces.
    expect(writes).toBeLessThan(1100);
  });
});

/** The same bytes in each run, which gzip cannot compress. */
async function incompressible(bytes: number): Promise<Buffer> {
  const deflate = createDeflateRaw();
  for (let n = 0; n < bytes; n += 1) deflate.write(`${n * n}`);
  deflate.end();
  return Buffer.concat(await deflate.toArray()).subarray(0, bytes);
}

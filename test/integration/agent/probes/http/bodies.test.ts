import * as zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';

const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib;
/** Only newer Node versions have it. */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer };

const TEXT = 'All systems go. '.repeat(50);
const MAX_BYTES = 25 * 1024 * 1024;

describe('content codings', () => {
  const CODED: readonly (readonly [string, Buffer])[] = [
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate, gzip', gzipSync(deflateSync(TEXT))],
    ['identity', Buffer.from(TEXT)],
    ...(zstdCompressSync === undefined ? [] : [['zstd', zstdCompressSync(TEXT)] as const]),
  ];

  test.each(CODED)('%s is decoded', async (coding, bytes) => {
    const server = await rawServer(
      answering(
        response('200 OK', bytes, `Content-Encoding: ${coding}`, 'Content-Type: text/plain'),
      ),
    );
    const { response: got, failure } = await probe(server.url());
    expect(failure).toBeNull();
    expect(got).toMatchObject({ body: TEXT, bodyBytes: TEXT.length });
  });

  test.each([
    ['garbage', Buffer.from('this is no gzip')],
    ['cut', gzipSync(TEXT).subarray(0, 30)],
    ['altered', flipped(gzipSync(TEXT))],
  ])('gzip that is %s is BODY_DECODE_FAILED, and the response stays', async (_name, bytes) => {
    const server = await rawServer(answering(response('200 OK', bytes, 'Content-Encoding: gzip')));
    const { response: got, failure } = await probe(server.url());
    expect(failure?.code).toBe('BODY_DECODE_FAILED');
    expect(failure?.message).toMatch(/^GET http:\S+: .*gzip.*\(after [\d.]+ ms\)$/);
    expect(got?.status).toBe(200);
    await server.idle();
  });

  test('an empty body with a coding is empty', async () => {
    const server = await rawServer(answering(response('200 OK', '', 'Content-Encoding: gzip')));
    expect(await probe(server.url())).toMatchObject({ failure: null, response: { bodyBytes: 0 } });
  });

  test('a compressed body that breaks off has the failure of the connection and the decoded part', async () => {
    const bytes = gzipSync(TEXT, { level: 0 });
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const server = await rawServer(answering(head, bytes.subarray(0, 500)));
    const { response: got, failure } = await probe(server.url());
    expect(failure?.code).toBe('BODY_TRUNCATED');
    expect(TEXT).toContain(got?.body);
    expect(got?.bodyBytes).toBeGreaterThan(0);
  });
});

describe('size', () => {
  test('a bomb is read to 25 MB and no further: cut, and no failure', async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_BYTES + 1000));
    const server = await rawServer(answering(response('200 OK', bomb, 'Content-Encoding: gzip')));
    const { response: got, failure, body } = await probe(server.url());
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: 200, bodyTruncated: true, bodyBytes: MAX_BYTES });
    expect(body).toHaveLength(MAX_BYTES);
    await server.idle();
  });

  test('an endless body is cut off at 25 MB, and the connection with it', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const server = await rawServer(async (peer) => {
      await peer.request();
      await peer.send('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
      while (!peer.socket.destroyed) await peer.send(piece);
    });
    const { response: got, failure, body } = await probe(server.url(), { keepBody: false });
    expect(failure).toBeNull();
    expect(got).toMatchObject({ bodyTruncated: true, bodyBytes: MAX_BYTES });
    expect(body).toHaveLength(50 * 1024 + 1);
    await server.idle();
  });

  test('a body of exactly 25 MB is whole', async () => {
    const server = await rawServer(answering(response('200 OK', Buffer.alloc(MAX_BYTES, 'y'))));
    const { response: got, body } = await probe(server.url());
    expect(got).toMatchObject({ bodyTruncated: false, bodyBytes: MAX_BYTES });
    expect(body?.every((byte) => byte === 'y'.charCodeAt(0))).toBe(true);
  });

  test('a sender that is faster than the decoder is slowed down, without loss', async () => {
    const text = Array.from({ length: 400_000 }, (_, line) => `line ${line}\n`).join('');
    const bytes = gzipSync(text, { level: 1 });
    const server = await rawServer(answering(response('200 OK', bytes, 'Content-Encoding: gzip')));
    const { failure, body } = await probe(server.url());
    expect(failure).toBeNull();
    expect(body?.toString() === text).toBe(true);
  });

  test('binary bodies are stored as base64', async () => {
    const bytes = Buffer.from([0, 1, 2, 255, 254]);
    const server = await rawServer(answering(response('200 OK', bytes, 'Content-Type: image/png')));
    const { response: got } = await probe(server.url());
    expect(got).toMatchObject({ body: bytes.toString('base64'), bodyEncoding: 'base64' });
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length - 6;
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

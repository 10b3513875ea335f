import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KEYS, type ServiceApp, startServiceApp } from '../../../../support/service/service-app.ts';

const TEXT = 'a line of some length\n'.repeat(500);
const RESOURCE = { id: 'a', text: TEXT };
const CHUNKS = 400;

const source: { read: number; closed: Promise<void> } = { read: 0, closed: Promise.resolve() };

/** A stream that sends nothing. */
const late = new EventEmitter();

/** Responses of every kind, each at its own path. */
const routes: FastifyPluginAsync = async (app) => {
  const read = { role: 'read' } as const;
  const open = { public: true } as const;
  app.get('/v1/resource', {
    config: read,
    schema: { response: { 200: z.object({ id: z.string(), text: z.string() }) } },
    handler: async () => RESOURCE,
  });
  app.get('/v1/short', { config: read, handler: async () => ({ id: 'a' }) });
  app.get('/v1/secret', { config: { ...read, showsSecret: true }, handler: async () => RESOURCE });
  app.get('/page', {
    config: open,
    handler: (_request, reply) => reply.type('text/html; charset=utf-8').send(TEXT),
  });
  app.get('/form', {
    config: { ...open, uncompressed: true },
    handler: (_request, reply) => reply.type('text/html; charset=utf-8').send(TEXT),
  });
  app.get('/events', {
    config: open,
    handler: (_request, reply) => reply.type('text/event-stream').send(TEXT),
  });
  app.get('/picture', {
    config: open,
    handler: (_request, reply) => reply.type('image/png').send(Buffer.from(TEXT)),
  });
  app.get('/file', {
    config: open,
    handler: (_request, reply) =>
      reply.headers({ 'accept-ranges': 'bytes', etag: '"f"' }).type('text/plain').send(TEXT),
  });
  app.get('/part', {
    config: open,
    handler: (_request, reply) =>
      reply.code(206).header('content-range', 'bytes 0-10999/20000').type('text/plain').send(TEXT),
  });
  app.post('/v1/late', {
    config: { ...read, audit: 'by its feature' },
    handler: (_request, reply) => {
      const stream = new Readable({ read: () => late.emit('read') });
      stream.once('close', () => late.emit('closed'));
      return reply.type('text/plain').send(stream);
    },
  });
  app.get('/stream', {
    config: open,
    handler: (_request, reply) => {
      const stream = Readable.from(randomChunks(), { objectMode: false });
      source.closed = new Promise((resolve) => stream.once('close', resolve));
      return reply.type('text/plain').header('content-length', '1').send(stream);
    },
  });
};

/** Chunks of 64 KiB that cannot be compressed much. */
async function* randomChunks(): AsyncGenerator<Buffer> {
  source.read = 0;
  let seed = 1;
  while (source.read < CHUNKS) {
    source.read += 1;
    const chunk = Buffer.alloc(65_536);
    for (let at = 0; at < chunk.length; at += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      chunk[at] = seed;
    }
    yield chunk;
  }
}

let service: ServiceApp;

beforeAll(async () => {
  service = await startServiceApp([routes]);
});

afterAll(() => service.close());

async function get(
  path: string,
  accepted: string,
  more: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${KEYS.read}`, 'accept-encoding': accepted, ...more };
  const sent = request({ host: '127.0.0.1', port: service.port, path, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  return response;
}

async function codingOf(path: string, accepted: string): Promise<string> {
  const response = await get(path, accepted);
  response.resume();
  return response.headers['content-encoding'] ?? 'none';
}

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync };

describe('an answer', () => {
  it.each(['br', 'gzip'] as const)('is sent in %s, with its length', async (coding) => {
    for (const path of ['/v1/resource', '/page']) {
      const response = await get(path, coding);
      expect(response.headers).toMatchObject({
        'content-encoding': coding,
        vary: 'accept-encoding',
      });
      const bytes = await buffer(response);
      expect(response.headers['content-length']).toBe(String(bytes.length));
      const plain = await service.ask(path);
      expect(DECODERS[coding](bytes).toString()).toBe(plain.text);
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([
        undefined,
        'accept-encoding',
      ]);
    }
  });

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.9', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['gzip;q=0', 'none'],
    ['gzip;q=0.000', 'none'],
    ['identity, gzip;q=0.5', 'none'],
    ['gzip;q=high', 'none'],
    ['zstd', 'none'],
    ['', 'none'],
  ])('to a client that accepts "%s" has the coding %s', async (accepted, coding) => {
    expect(await codingOf('/page', accepted)).toBe(coding);
  });

  it.each([
    ['is short', '/v1/short'],
    ['contains a secret', '/v1/secret'],
    ['shows a form', '/form'],
    ['is a stream of events', '/events'],
    ['is a picture', '/picture'],
    ['has ranges', '/file'],
    ['is one range', '/part'],
  ])('that %s is not compressed', async (_what, path) => {
    expect(await codingOf(path, 'br, gzip')).toBe('none');
  });

  it('to HEAD has the headers of the answer to GET', async () => {
    const { headers } = await service.ask('/v1/resource', {
      method: 'HEAD',
      headers: { 'accept-encoding': 'gzip' },
    });
    const bytes = await buffer(await get('/v1/resource', 'gzip'));
    expect(headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(bytes.length),
    });
  });
});

describe('a compressed resource', () => {
  it('has a weak validator, with which a client can revalidate it', async () => {
    const { etag } = (await service.ask('/v1/resource')).headers;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const packed = await get('/v1/resource', 'gzip');
    packed.resume();
    expect(packed.headers.etag).toBe(`W/${etag}`);
    for (const known of [String(etag), `W/${etag}`]) {
      const again = await get('/v1/resource', 'gzip', { 'if-none-match': known });
      expect([again.statusCode, again.headers.etag]).toEqual([304, known]);
      expect([again.headers['content-encoding'], await buffer(again)]).toEqual([
        undefined,
        Buffer.alloc(0),
      ]);
    }
  });
});

describe('a compressed stream', () => {
  it('arrives complete, without the length that it had', async () => {
    const response = await get('/stream', 'br');
    expect(response.headers).toMatchObject({ 'content-encoding': 'br' });
    expect(response.headers).not.toHaveProperty('content-length');
    const text = brotliDecompressSync(await buffer(response));
    expect(text.length).toBe(CHUNKS * 65_536);
  });

  it('is read no further when the client is gone', async () => {
    const response = await get('/stream', 'gzip');
    response.destroy();
    await source.closed;
    expect(source.read).toBeLessThan(CHUNKS);
  });

  it('that a client leaves before its first byte is no fault of the service', async () => {
    const [waiting, closed] = [once(late, 'read'), once(late, 'closed')];
    const headers = {
      authorization: `Bearer ${KEYS.read}`,
      'accept-encoding': 'gzip',
      'content-type': 'application/json',
    };
    const to = { host: '127.0.0.1', port: service.port, method: 'POST', path: '/v1/late' };
    const sent = request({ ...to, headers });
    sent.on('error', () => {}).end('{}');
    await waiting;
    sent.destroy();
    await closed;
    // A whole request later, whatever the first one led to has been logged.
    await codingOf('/page', 'gzip');
    const faults = service.logs.records().filter(({ level }) => level === 'error');
    expect(faults).toEqual([]);
  });
});

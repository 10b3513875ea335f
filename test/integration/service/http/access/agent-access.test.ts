import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { hashOfKey } from '../../../../../src/service/http/access/key-hashes.ts';
import { agentOf, callerOf } from '../../../../../src/service/http/app.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  ACCOUNT,
  KEYS,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import { thingRoutes } from '../../../../support/service/service-routes.ts';

const LOCATION_KEY = `pl_${'a'.repeat(32)}`;
const AGENT = { accountId: ACCOUNT, locationId: 'location-1', keyId: 'location-key-1' };
const LIMIT_BYTES = 100_000;

function agentRoutes(): FastifyPluginAsync {
  return async (app) => {
    app.post('/agent/v1/echo', {
      config: { agent: true, gzip: true },
      bodyLimit: LIMIT_BYTES,
      handler: async (incoming) => ({ agent: agentOf(incoming), body: incoming.body }),
    });
    app.post('/agent/v1/batch', {
      config: { agent: true, gzip: true, manyValues: true },
      handler: async (incoming) => ({ sha256: sha256Of(incoming.body) }),
    });
    app.get('/agent/v1/slip', { config: { agent: true } }, async (incoming) => callerOf(incoming));
    app.get('/v1/slip', { config: { role: 'read' } }, async (incoming) => agentOf(incoming));
  };
}

function sha256Of(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

let service: ServiceApp | null = null;
let wrongKeys = 0;

async function start(options: Parameters<typeof startServiceApp>[1] = {}): Promise<ServiceApp> {
  wrongKeys = 0;
  const locationKeys = {
    async authenticate(hash: Buffer) {
      if (hash.equals(hashOfKey(LOCATION_KEY))) return AGENT;
      wrongKeys += 1;
      return null;
    },
  };
  service = await startServiceApp([agentRoutes(), thingRoutes()], { locationKeys, ...options });
  return service;
}

afterEach(async () => {
  await service?.close();
  service = null;
});

const AS_AGENT = { key: LOCATION_KEY, method: 'POST', headers: { 'x-agent-protocol': '1' } };

function gzipped(body: string | Uint8Array, more: Readonly<Record<string, string>> = {}) {
  const headers = {
    'x-agent-protocol': '1',
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    ...more,
  };
  return { ...AS_AGENT, headers, body };
}

describe('a route for agents', () => {
  it('accepts a location key, and knows its location', async () => {
    const { ask } = await start();
    const reply = await ask('/agent/v1/echo', { ...AS_AGENT, body: { a: 1 } });
    expect([reply.status, reply.json]).toEqual([200, { agent: AGENT, body: { a: 1 } }]);
    expect(JSON.stringify(service?.logs.records())).not.toContain(LOCATION_KEY);
  });

  it.each([
    ['an API key', KEYS.admin],
    ['no key', null],
    ['a location key that nobody has', `pl_${'9'.repeat(32)}`],
    ['a location key in capitals', LOCATION_KEY.toUpperCase()],
  ])('is closed to %s', async (_what, key) => {
    const { ask } = await start();
    const reply = await ask('/agent/v1/echo', { ...AS_AGENT, key });
    expect([reply.status, reply.json.message]).toEqual([401, 'Bad Token']);
  });

  it('has keys that open nothing else (trust model AN20)', async () => {
    const { ask } = await start();
    const reply = await ask('/v1/things', { key: LOCATION_KEY });
    expect([reply.status, reply.json.message]).toEqual([401, 'Bad Token']);
  });

  it('is closed to a revoked key five seconds after it was last looked up (trust model AN20)', async () => {
    const clock = new FakeClock();
    let agent: typeof AGENT | null = AGENT;
    const locationKeys = { authenticate: async () => agent };
    const { ask } = await start({ clock, locationKeys });
    expect((await ask('/agent/v1/echo', AS_AGENT)).status).toBe(200);
    agent = null;
    expect((await ask('/agent/v1/echo', AS_AGENT)).status).toBe(200);
    clock.spend(5_001);
    expect((await ask('/agent/v1/echo', AS_AGENT)).status).toBe(401);
  });

  it('is closed to a key of another account than x-service-account (trust model AN20)', async () => {
    const { ask } = await start();
    const headers = { 'x-agent-protocol': '1', 'x-service-account': 'another' };
    expect((await ask('/agent/v1/echo', { ...AS_AGENT, headers })).status).toBe(403);
  });

  it.each([
    ['no version', undefined, null, 'agent'],
    ['an older one', '0', '0', 'agent'],
    ['a newer one', '2', '2', 'service'],
    ['none at all', 'one', 'one', 'agent'],
    ['two', '1, 1', '1, 1', 'agent'],
  ])('answers 426 to %s, even before the key', async (_what, sent, received, upgrade) => {
    const { ask } = await start();
    const headers: Record<string, string> = sent === undefined ? {} : { 'x-agent-protocol': sent };
    const reply = await ask('/agent/v1/echo', { key: null, method: 'POST', headers, body: {} });
    expect(reply.json).toEqual({
      statusCode: 426,
      error: 'Upgrade Required',
      message: expect.stringContaining(`upgrade the ${upgrade}`),
      attributes: { supported: [1], received, upgrade },
    });
    expect(reply.headers.upgrade).toBe('vedette-agent/1');
    expect(reply.headers.connection?.toLowerCase()).toContain('upgrade');
  });

  it('gives a 426 that HTTP clients read as an answer, not as another protocol', async () => {
    const { port } = await start();
    const reply = await request(`http://127.0.0.1:${port}/agent/v1/echo`, { method: 'POST' });
    expect([reply.statusCode, await reply.body.json()]).toEqual([
      426,
      expect.objectContaining({ statusCode: 426 }),
    ]);
  });

  it('ends the connection with its 426 where the service stops', async () => {
    const running = await start();
    running.stopping.abort();
    const reply = await running.ask('/agent/v1/echo', { ...AS_AGENT, headers: {} });
    expect(reply.headers.connection).toMatch(/close, upgrade/i);
  });

  it('has a limit of its own, far above that of users', async () => {
    const { ask } = await start({ config: { rateLimitPerMinute: 1, trustedProxies: [] } });
    await ask('/v1/things');
    expect((await ask('/v1/things')).status).toBe(429);
    const first = await ask('/agent/v1/echo', AS_AGENT);
    const second = await ask('/agent/v1/echo', AS_AGENT);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers).toMatchObject({
      'x-ratelimit-limit': '60000',
      'x-ratelimit-remaining': '59998',
    });
  });

  it('counts wrong keys for their address, but shuts out no agent, known or new', async () => {
    const { ask } = await start();
    const guess = (n: number) =>
      ask('/agent/v1/echo', { ...AS_AGENT, key: `pl_${String(n).padStart(32, '0')}` });
    for (let n = 0; n < 100; n += 1) expect((await guess(n)).status).toBe(401);
    expect((await guess(100)).status).toBe(429);
    expect(wrongKeys).toBe(101);
    expect((await ask('/agent/v1/echo', AS_AGENT)).status).toBe(200);
    expect((await guess(101)).status).toBe(429);
  });

  it('accepts a batch with any object key that a target chose', async () => {
    const { ask } = await start();
    const body =
      '{"headers":{"__proto__":{"x":1},"a":"b"},"c":[{"constructor":{"prototype":{}},"\\u005f_proto__":2}]}';
    const reply = await ask('/agent/v1/echo', { ...AS_AGENT, body });
    expect([reply.status, reply.json.body]).toEqual([200, { headers: { a: 'b' }, c: [{}] }]);
    expect((await ask('/v1/things', { method: 'POST', body })).status).toBe(400);
  });

  it('is not in the documentation of the API', async () => {
    const { ask } = await start();
    const reply = await ask('/openapi.json');
    expect(Object.keys(reply.json.paths)).toContain('/v1/things');
    expect(reply.text).not.toContain('/agent/');
  });

  it('has no caller, and a route for users has no agent', async () => {
    const { ask } = await start();
    expect((await ask('/agent/v1/slip', { ...AS_AGENT, method: 'GET' })).status).toBe(500);
    expect((await ask('/v1/slip')).status).toBe(500);
  });

  it.each([{ agent: true, role: 'read' }, { agent: true, public: true }, { agent: 'yes' }])(
    'that says %j stops the start',
    async (config) => {
      const routes: FastifyPluginAsync = async (app) => {
        app.get('/v1/open', { config: config as object }, async () => 'ok');
      };
      await expect(startServiceApp([routes])).rejects.toThrow(/does not say who may use it/);
    },
  );
});

describe('a long body', () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `é "${n}" [,] {:}` }));
  const post = async (body: string | Buffer) => {
    const { ask } = await start();
    const reply = await ask('/agent/v1/batch', gzipped(gzipSync(body, { level: 1 })));
    return reply.json;
  };

  it('is read in slices as it would be at once', async () => {
    const batch = { agentId: 'a', results: rows, missed: [rows.slice(0, 5_000)], more: {} };
    const written = JSON.stringify(batch, null, 1);
    expect(await post(written)).toEqual({ sha256: sha256Of(batch) });
    expect(await post(`\ufeff${written}\r\n`)).toEqual({ sha256: sha256Of(batch) });
  });

  it('loses every key that a target chose and that would change a prototype', async () => {
    const foreign = '{"__proto__":{"x":1},"a":{"constructor":{"prototype":{}}}}';
    const written = JSON.stringify([rows, '?', rows, '?']).replaceAll('"?"', foreign);
    const left = [rows, { a: {} }, rows, { a: {} }];
    expect(await post(written)).toEqual({ sha256: sha256Of(left) });
  });

  it.each([
    ['is no JSON at its end', `[${JSON.stringify(rows)},]`, 'The body is not valid JSON'],
    ['has no end', `[${JSON.stringify(rows)}`, 'The body is not valid JSON'],
    ['has a byte order mark inside', `[${JSON.stringify(rows)},\ufeff1]`, /not valid JSON$/],
    [
      'is no UTF-8 at its end',
      Buffer.concat([Buffer.from(`[${JSON.stringify(rows)},"`), Buffer.from([0xff, 0x22, 0x5d])]),
      'The body is not valid UTF-8',
    ],
    [
      'has an object of more keys than any has',
      `[${JSON.stringify(Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [n, n])))}]`,
      'An object in the body has more than 20000 keys',
    ],
    [
      'is nested too deeply at its end',
      `[${JSON.stringify(rows)},${'['.repeat(64)}${']'.repeat(64)}]`,
      'The body is nested deeper than 64 levels',
    ],
  ])('that %s is 400', async (_what, body, message) => {
    const matching = expect.stringMatching(message);
    expect(await post(body)).toMatchObject({ statusCode: 400, message: matching });
  });
});

describe('a gzip body', () => {
  it.each(['gzip', 'GZIP', 'x-gzip'])('as %s is unpacked where the route takes it', async (as) => {
    const { ask } = await start();
    const body = gzipSync(JSON.stringify({ text: 'é'.repeat(10_000) }));
    const reply = await ask('/agent/v1/echo', gzipped(body, { 'content-encoding': as }));
    expect(reply.json.body).toEqual({ text: 'é'.repeat(10_000) });
  });

  it('may come in pieces without a length, and in several members', async () => {
    const running = await start();
    const [first, second] = [gzipSync('{"a":'), gzipSync('1}')];
    const chunk = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    const head = `POST /agent/v1/echo HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${LOCATION_KEY}\r\nx-agent-protocol: 1\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
    const answer = await running.raw(
      Buffer.concat([Buffer.from(head), chunk(first), chunk(second), Buffer.from('0\r\n\r\n')]),
    );
    expect(answer).toContain('"body":{"a":1}');
  });

  it('is 415 on other routes, as is every other encoding here', async () => {
    const { ask } = await start();
    const elsewhere = await ask('/v1/things', {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync('{}'),
    });
    expect(elsewhere.json.attributes).toEqual({ allowed: ['the body without an encoding'] });
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'gzip, br', '']) {
      const body = gzipSync('{}');
      const reply = await ask('/agent/v1/echo', gzipped(body, { 'content-encoding': encoding }));
      expect([encoding, reply.status, reply.json?.attributes.allowed]).toEqual([
        encoding,
        415,
        ['gzip', 'the body without an encoding'],
      ]);
    }
  });

  it.each([
    ['no gzip at all', Buffer.from('{"a":1}')],
    ['a gzip cut short', gzipSync(randomBytes(5000)).subarray(0, 3000)],
    ['a gzip with a flipped bit', flipped(gzipSync('{"a":"bbbbbbbb"}'))],
    ['a header alone', gzipSync('').subarray(0, 10)],
  ])('that is %s is 400', async (_what, body) => {
    const { ask } = await start();
    const reply = await ask('/agent/v1/echo', gzipped(body));
    expect([reply.status, reply.json.message]).toEqual([
      400,
      'The body is not valid gzip to its end',
    ]);
    expect((await ask('/agent/v1/echo', AS_AGENT)).status).toBe(200);
  });

  it('that is not JSON is 400, and an empty one is no body', async () => {
    const { ask } = await start();
    expect((await ask('/agent/v1/echo', gzipped(gzipSync('{')))).status).toBe(400);
    const empty = await ask('/agent/v1/echo', gzipped(gzipSync('')));
    expect([empty.status, empty.json.body]).toEqual([200, undefined]);
  });

  it('is 413 by its unpacked length, to the byte', async () => {
    const { ask } = await start();
    const textOf = (bytes: number) => gzipSync(`"${'a'.repeat(bytes - 2)}"`);
    expect((await ask('/agent/v1/echo', gzipped(textOf(LIMIT_BYTES)))).status).toBe(200);
    const over = await ask('/agent/v1/echo', gzipped(textOf(LIMIT_BYTES + 1)));
    expect([over.status, over.json.attributes]).toEqual([413, { limitBytes: LIMIT_BYTES }]);
  });

  it('that is a bomb is 413 at once, and costs no memory (trust model AN21)', async () => {
    const { ask } = await start();
    // 90 KB that unpack to 90 MB: the compressed length is within the limit.
    const bomb = gzipSync(Buffer.alloc(90_000_000));
    expect(bomb.length).toBeLessThan(LIMIT_BYTES);
    const before = process.memoryUsage();
    for (let n = 0; n < 10; n += 1) {
      const refused = await ask('/agent/v1/echo', gzipped(bomb));
      // Enforced while unpacking: a limit of the received bytes would not be reached.
      expect([refused.status, refused.json.message]).toEqual([
        413,
        expect.stringContaining('The decompressed body'),
      ]);
    }
    const after = process.memoryUsage();
    const grownBytes = after.rss - before.rss;
    expect(grownBytes).toBeLessThan(60_000_000);
  });

  it('that stops coming leaves nothing behind', async () => {
    const running = await start();
    const body = gzipSync(randomBytes(50_000));
    const socket = connect(running.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /agent/v1/echo HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${LOCATION_KEY}\r\nx-agent-protocol: 1\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    const got = once(running.app.server, 'request');
    socket.write(body.subarray(0, 10_000));
    await got;
    socket.destroy();
    expect((await running.ask('/agent/v1/echo', AS_AGENT)).status).toBe(200);
    await running.inFlight.settled(new AbortController().signal);
    expect(running.inFlight.size).toBe(0);
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[14] = (copy[14] ?? 0) ^ 0x10;
  return copy;
}

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { NOT_SCRUBBED, type Scrub } from '../../../../src/agent/secrets/cut-scrubbed.ts';
import { type Pieces, piecesOfFile } from '../../../../src/agent/service-client/file-pieces.ts';
import { packJson, ServiceClient } from '../../../../src/agent/service-client/service-client.ts';
import type { ServiceFailure } from '../../../../src/agent/service-client/service-failure.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { NO_PROXIES } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { createScrubber } from '../../../../src/scrub/scrubber.ts';
import { protocolMismatchOf } from '../../../../src/wire/v1/error-response.ts';
import {
  errorBody,
  failing,
  json,
  read,
  reset,
  type Script,
  UploadService,
} from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { createAuthority } from '../../../support/servers/certificates.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';

const never = new AbortController().signal;
const KEY = `pl_${'0123456789abcdef'.repeat(2)}`;
const schema = z.object({ hello: z.string() });

function clientOf(
  serviceUrl: URL,
  clock: Clock = systemClock,
  artifactOrigins: readonly string[] = [],
  scrub: Scrub = NOT_SCRUBBED,
): ServiceClient {
  const client = new ServiceClient({
    serviceUrl,
    key: () => KEY,
    proxies: NO_PROXIES,
    artifactOrigins,
    clock,
    version: '1.2.3',
    scrub,
  });
  onTestFinished(() => client.close());
  return client;
}

async function setUp(clock: Clock = systemClock) {
  const service = await UploadService.start();
  return { service, client: clientOf(service.url, clock) };
}

const options = { schema, timeoutMs: 60_000, signal: never };

async function* pieces(...texts: readonly string[]): Pieces {
  for (const text of texts) yield Buffer.from(text);
}

async function failureOf(script: Script): Promise<ServiceFailure> {
  const { service, client } = await setUp();
  service.always('/x', script);
  const answer = await client.post('/x', {}, options);
  if (answer.ok) throw new Error('the answer was taken');
  // Whatever is said of a failure goes to the log.
  expect(answer.failure.message).not.toMatch(/[\r\n]|pl_/);
  return answer.failure;
}

it('sends JSON with the key, the protocol and its own name, and reads the answer', async () => {
  const { service, client } = await setUp();
  service.next('/x', async (request, response) => {
    await read(request);
    json(response, 200, { hello: 'agent', more: 1 });
  });
  expect(client.lastContactMs).toBeNull();
  expect(await client.post('/x', { a: 'ä' }, options)).toEqual({
    ok: true,
    value: { hello: 'agent' },
    bytes: 26,
  });
  expect(Date.now() - (client.lastContactMs ?? 0)).toBeLessThan(60_000);
  const [seen] = service.seen;
  expect(seen).toMatchObject({ method: 'POST', path: '/x' });
  expect(JSON.parse(String(seen?.body))).toEqual({ a: 'ä' });
  expect(seen?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'x-agent-protocol': '1',
    'user-agent': 'vedette/1.2.3',
    'content-type': 'application/json',
    'accept-encoding': 'gzip',
  });
});

it('compresses bodies on request, sends JSON text as it is, and unpacks answers', async () => {
  const { service, client } = await setUp();
  service.always('/', async (request, response) => {
    await read(request);
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync('{"hello":"packed"}'));
  });
  const text = Buffer.from('{"a": 1}');
  const answer = await client.post('/x', await packJson(text), { ...options, packed: true });
  expect(answer).toEqual({ ok: true, value: { hello: 'packed' }, bytes: 18 });
  await client.post('/x', text, options);
  const [packed, plain] = service.seen;
  expect(packed?.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(packed?.body ?? '').equals(text)).toBe(true);
  expect(plain?.headers['content-encoding']).toBeUndefined();
  expect(plain?.body.equals(text)).toBe(true);
});

it('prefixes paths with the path of SERVICE_URL', async () => {
  const { service } = await setUp();
  const client = clientOf(new URL('/monitoring/', service.url));
  await client.post('/agent/v1/poll', {}, options);
  expect(service.seen.map(({ path }) => path)).toEqual(['/monitoring/agent/v1/poll']);
});

const inOneMinute = new Date(Date.now() + 60_000).toUTCString();
const html: Script = async (request, response) => {
  await read(request);
  response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nginx</h1>');
};
const answering =
  (body: string | Buffer, headers: Record<string, string> = {}): Script =>
  async (request, response) => {
    await read(request);
    response.writeHead(200, headers).end(body);
  };
const cutShort: Script = async (request, response) => {
  await read(request);
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"hello":', () => request.socket.resetAndDestroy());
};
const otherVersion: Script = async (request, response) => {
  await read(request);
  json(response, 426, protocolMismatchOf('2'));
};

it.each<[string, Script, Partial<ServiceFailure> & { kind: string }, RegExp]>([
  ['resets the connection', reset, { kind: 'offline', status: null }, /cannot be reached.*reset/],
  [
    'hangs up',
    (request) => void request.socket.end(),
    { kind: 'offline', status: null },
    /closed before the answer was whole/,
  ],
  ['is cut short', cutShort, { kind: 'offline', status: null }, /cannot be reached/],
  [
    'is busy, for seconds',
    failing(503, 'later', { 'retry-after': '7' }),
    { kind: 'busy', status: 503, retryAfterMs: 7000 },
    /answered 503: later/,
  ],
  [
    'is busy, with no word of when',
    failing(503),
    { kind: 'busy', retryAfterMs: null },
    /answered 503/,
  ],
  [
    'limits the rate, for longer than anybody waits',
    failing(429, 'slow', { 'retry-after': '999999' }),
    { kind: 'busy', status: 429, retryAfterMs: 3_600_000 },
    /429: slow/,
  ],
  [
    'is busy until it cannot say when',
    failing(503, 'later', { 'retry-after': 'soon' }),
    { kind: 'busy', retryAfterMs: null },
    /503/,
  ],
  ['fails', failing(500), { kind: 'failed', status: 500 }, /answered 500/],
  ['is a gateway of nothing', failing(502), { kind: 'failed', status: 502 }, /502/],
  [
    'does not know the key',
    failing(401, 'Bad Token'),
    { kind: 'unauthorized', status: 401 },
    /401: Bad Token; see that API_KEY/,
  ],
  ['forbids it', failing(403), { kind: 'unauthorized', status: 403 }, /API_KEY/],
  [
    'speaks another version',
    otherVersion,
    {
      kind: 'mismatch',
      status: 426,
      attributes: { supported: [1], received: '2', upgrade: 'service' },
    },
    /426: This service speaks version 1.*upgrade the service/,
  ],
  [
    'finds it too large',
    async (request, response) => {
      await read(request);
      json(response, 413, errorBody(413, 'too large', { limitBytes: 5 }));
    },
    { kind: 'refused', status: 413, attributes: { limitBytes: 5 } },
    /413: too large$/,
  ],
  [
    'exceeds the body limit of a proxy',
    async (request, response) => {
      await read(request);
      response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>nginx</h1>');
    },
    { kind: 'refused', status: 413, attributes: {} },
    /413.*a proxy in between\?.*nginx: client_max_body_size 16m/,
  ],
  ['finds it invalid', failing(400, 'a\r\nb'), { kind: 'refused', status: 400 }, /400: a b/],
  ['does not know the path', failing(404), { kind: 'refused', status: 404 }, /404/],
  [
    'is a page of a proxy',
    html,
    { kind: 'failed', status: 404, attributes: {} },
    /404.*not in the form of the service/,
  ],
  [
    'leads elsewhere',
    async (request, response) => {
      await read(request);
      response.writeHead(301, { location: 'https://new.example/agent?key=1' }).end();
    },
    { kind: 'failed', status: 301 },
    /redirect to https:\/\/new\.example: set SERVICE_URL/,
  ],
  ['is no JSON', answering('<html>'), { kind: 'failed', status: 200 }, /not JSON/],
  ['is of another form', answering('{"hello":1}'), { kind: 'failed', status: 200 }, /hello: /],
  ['is nothing', answering(''), { kind: 'failed', status: 200 }, /not JSON/],
  [
    'is packed and broken',
    answering(gzipSync('{"hello":"x"}').subarray(0, 15), { 'content-encoding': 'gzip' }),
    { kind: 'failed', status: 200 },
    /gzip is broken/,
  ],
  [
    'is packed in another way',
    answering('x', { 'content-encoding': 'br' }),
    { kind: 'failed', status: 200 },
    /not asked for/,
  ],
  [
    'unpacks to more than may come',
    answering(gzipSync(Buffer.alloc(17 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
    { kind: 'failed', status: 200 },
    /longer than 16777216 bytes/,
  ],
  [
    'goes on for longer than may come',
    answering(Buffer.alloc(17 * 1024 * 1024)),
    { kind: 'failed', status: 200 },
    /longer than 16777216 bytes/,
  ],
])(
  'an answer that %s is a failure of its kind (trust model SC10, SN16, SN22)',
  async (_what, script, failure, message) => {
    const found = await failureOf(script);
    expect(found).toMatchObject(failure);
    expect(found.message).toMatch(message);
  },
);

it('reads a Retry-After that is a date by its own clock', async () => {
  const { retryAfterMs } = await failureOf(failing(503, 'later', { 'retry-after': inOneMinute }));
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

it('masks a secret in an answer before it cuts the answer', async () => {
  const secret = 'correct-horse-battery-staple';
  const service = await UploadService.start();
  const scrubber = createScrubber([secret]);
  const client = clientOf(service.url, systemClock, [], (text) => scrubber.text(text));
  // The message is cut at 500 characters, so each of these cuts the secret somewhere else.
  for (let before = 400; before < 500; before += 10) {
    service.next('/x', failing(400, `${'.'.repeat(before)}${secret} and more`.padEnd(600, '.')));
    const answer = await client.post('/x', {}, options);
    if (answer.ok) throw new Error('the answer was taken');
    expect(answer.failure.message).not.toMatch(/corr/);
    expect(answer.failure.message.length).toBeLessThanOrEqual(501);
  }
});

it('says which service refuses connections', async () => {
  const silent = await refusingPort();
  onTestFinished(silent.close);
  const client = clientOf(new URL(`http://127.0.0.1:${silent.port}`));
  expect(await client.post('/x', {}, options)).toMatchObject({
    ok: false,
    failure: {
      kind: 'offline',
      message: `the service at http://127.0.0.1:${silent.port} cannot be reached: it refused the connection (ECONNREFUSED)`,
    },
  });
  expect(client.lastContactMs).toBeNull();
});

it('says what to do about a certificate that is not trusted', async () => {
  const authority = await createAuthority();
  const identity = await authority.issue({ addresses: ['127.0.0.1'] });
  const server = createServer(identity, (_request, response) => json(response, 200, {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = clientOf(new URL(`https://127.0.0.1:${port}`));
  const answer = await client.post('/x', {}, options);
  expect(answer).toMatchObject({ ok: false, failure: { kind: 'offline' } });
  expect(JSON.stringify(answer)).toContain('NODE_EXTRA_CA_CERTS');
});

it('gives up a slow answer and closes its connection', async () => {
  const clock = new FakeClock();
  const { service, client } = await setUp(clock);
  let isClosed = false;
  service.next('/x', async (request, response) => {
    await read(request);
    request.socket.once('close', () => {
      isClosed = true;
    });
    response.writeHead(200).write('{"hel');
  });
  const answer = client.post('/x', {}, { ...options, timeoutMs: 5000 });
  await eventually(() => service.seen.length === 1);
  await clock.advance(4999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  expect(await answer).toMatchObject({
    ok: false,
    failure: { kind: 'offline', message: expect.stringContaining('within 5 s') },
  });
  await eventually(() => isClosed);
  expect(clock.pendingTimers).toBe(0);
});

it('stops at once when its signal aborts, before or during the request', async () => {
  const clock = new FakeClock();
  const { service, client } = await setUp(clock);
  service.always('/x', () => {});
  const ended = new AbortController();
  const answer = client.post('/x', {}, { ...options, signal: ended.signal });
  await eventually(() => service.seen.length === 1);
  ended.abort();
  expect(await answer).toMatchObject({ ok: false, failure: { kind: 'stopped' } });
  const late = await client.post('/x', {}, { ...options, signal: ended.signal });
  expect(late).toMatchObject({ ok: false, failure: { kind: 'stopped' } });
  expect(service.seen).toHaveLength(1);
  expect(clock.pendingTimers).toBe(0);
});

it('ends requests in progress when it is closed', async () => {
  const { service, client } = await setUp();
  service.always('/x', () => {});
  const answer = client.post('/x', {}, options);
  await eventually(() => service.seen.length === 1);
  await client.close();
  expect(await answer).toMatchObject({ ok: false, failure: { kind: 'stopped' } });
});

it('is in contact with the service when it answers, unless it refuses the key or the version', async () => {
  const clock = new FakeClock();
  const { service, client } = await setUp(clock);
  for (const script of [html, answering('<html>'), failing(401), failing(403), otherVersion]) {
    service.next('/x', script);
    await client.post('/x', {}, options);
    expect(client.lastContactMs).toBeNull();
  }
  service.next('/x', failing(503));
  await client.post('/x', {}, options);
  expect(client.lastContactMs).toBe(clock.wallMs());
});

const part = { n: 1, url: '/agent/v1/artifacts/u/parts/1', method: 'PUT' as const, headers: {} };

it('puts a part to the service with the key, and to a signed address without it (trust model SN11)', async () => {
  const [service, store] = [await UploadService.start(), await UploadService.start()];
  const client = clientOf(service.url, systemClock, [store.url.origin]);
  for (const each of [service, store]) {
    each.always('/', async (request, response) => {
      await read(request);
      response.writeHead(200).end();
    });
  }
  const signed = {
    ...part,
    url: new URL('/bucket/1?X-Signature=secret', store.url).href,
    headers: { 'X-Amz-Date': 'now' },
  };
  for (const each of [part, signed]) {
    const body = pieces('abc', 'de');
    expect(await client.put(each, body, 5, options)).toEqual({ ok: true, value: undefined });
    expect((await body.next()).done).toBe(true);
  }
  const [own, foreign] = [service.seen[0], store.seen[0]];
  expect(own).toMatchObject({ method: 'PUT', path: part.url });
  expect(own?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'x-agent-protocol': '1',
    'content-type': 'application/octet-stream',
    'content-length': '5',
  });
  expect(String(own?.body)).toBe('abcde');
  expect(foreign).toMatchObject({ method: 'PUT', path: '/bucket/1?X-Signature=secret' });
  expect(foreign?.headers).toMatchObject({ 'x-amz-date': 'now', 'content-length': '5' });
  expect(foreign?.headers).not.toHaveProperty('authorization');
  expect(foreign?.headers).not.toHaveProperty('x-agent-protocol');
  expect(String(foreign?.body)).toBe('abcde');
});

it('sends the key to no other address after a redirect of the service (trust model SN11)', async () => {
  const [service, elsewhere] = [await UploadService.start(), await UploadService.start()];
  const client = clientOf(service.url, systemClock, [elsewhere.url.origin]);
  for (const status of [301, 302, 303, 307, 308]) {
    service.always('/', async (request, response) => {
      await read(request);
      response.writeHead(status, { location: new URL(part.url, elsewhere.url).href }).end();
    });
    const failure = { kind: 'failed', message: expect.stringContaining('a redirect to') };
    expect(await client.post('/x', {}, options)).toMatchObject({ ok: false, failure });
    expect(await client.put(part, pieces('abc'), 3, options)).toMatchObject({ ok: false, failure });
    service.restore();
  }
  expect(elsewhere.seen).toEqual([]);
});

it('follows no redirect of an object store (trust model SN11)', async () => {
  const [service, store, elsewhere] = [
    await UploadService.start(),
    await UploadService.start(),
    await UploadService.start(),
  ];
  const client = clientOf(service.url, systemClock, [store.url.origin, elsewhere.url.origin]);
  for (const status of [301, 302, 303, 307, 308]) {
    store.next('/1', async (request, response) => {
      await read(request);
      response.writeHead(status, { location: elsewhere.url.href }).end();
    });
    const signed = { ...part, url: new URL('/1', store.url).href };
    expect(await client.put(signed, pieces('abc'), 3, options)).toMatchObject({
      ok: false,
      failure: { kind: 'failed', message: expect.stringContaining('which is not followed') },
    });
  }
  expect(elsewhere.seen).toEqual([]);
});

it('treats no answer of an object store as one of the service', async () => {
  const { service, client } = await setUp();
  const signed = { ...part, url: new URL('/1?X-Signature=secret', service.url).href };
  const put = () => client.put(signed, pieces('abc'), 3, options);
  const kinds: unknown[] = [];
  for (const status of [401, 403, 404, 413, 426, 500, 503]) {
    service.next('/1', failing(status));
    const answer = await put();
    kinds.push(answer.ok ? 'ok' : answer.failure?.kind);
    expect(JSON.stringify(answer)).not.toContain('secret');
  }
  expect(kinds).toEqual(['failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'busy']);
  expect(client.lastContactMs).toBeNull();
});

it('survives a part that is interrupted, refused before its end, or unreadable', async () => {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  writeFileSync(folder.file('big'), Buffer.alloc(20_000_000));
  const { service, client } = await setUp();
  const range = { fromByte: 0, bytes: 20_000_000, pieceBytes: 256 * 1024 };
  const put = (path: string) =>
    client.put(part, piecesOfFile(folder.file(path), range), range.bytes, options);
  service.next(part.url, (request) => {
    request.once('data', () => request.socket.resetAndDestroy());
  });
  expect(await put('big')).toMatchObject({ ok: false, failure: { kind: 'offline' } });
  service.next(part.url, (_request, response) => {
    json(response, 413, errorBody(413, 'too large'), { connection: 'close' });
  });
  const refused = await put('big');
  expect(refused).toMatchObject({ ok: false });
  expect(await put('none')).toMatchObject({ ok: false, failure: { kind: 'offline' } });
  service.next(part.url, failing(401));
  expect(await client.put(part, pieces('abc'), 3, options)).toMatchObject({
    ok: false,
    failure: { kind: 'unauthorized' },
  });
});

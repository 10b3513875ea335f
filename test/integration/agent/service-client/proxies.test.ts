import { createServer } from 'node:https';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { NOT_SCRUBBED } from '../../../../src/agent/secrets/cut-scrubbed.ts';
import type { Pieces } from '../../../../src/agent/service-client/file-pieces.ts';
import { ServiceClient } from '../../../../src/agent/service-client/service-client.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { type Exemption, exemption } from '../../../../src/runtime/net/proxy/no-proxy.ts';
import { parseProxy } from '../../../../src/runtime/net/proxy/proxy-url.ts';
import { failing, json, read, UploadService } from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';
import {
  answering,
  listen,
  type Peer,
  rawServer,
  response,
} from '../../../support/servers/http-servers.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';

const KEY = `pl_${'0123456789abcdef'.repeat(2)}`;
const AUTHORIZATION = `Basic ${Buffer.from('ann:s3:cret').toString('base64')}`;
const SECRETS = /s3(:|%3A)cret|YW5uO|pl_|\n/;
const never = new AbortController().signal;
const options = { schema: z.object({ hello: z.string() }), timeoutMs: 60_000, signal: never };

interface Settings {
  readonly exempt?: readonly string[];
  readonly artifactOrigins?: readonly string[];
}

function clientOf(
  serviceUrl: URL,
  proxyUrl: string,
  { exempt = [], artifactOrigins = [] }: Settings = {},
): ServiceClient {
  const proxy = parseProxy(proxyUrl);
  if (proxy === null) throw new Error(proxyUrl);
  const client = new ServiceClient({
    serviceUrl,
    key: () => KEY,
    proxies: { https: proxy, http: proxy, exemptions: exempt.map(exemptionOf) },
    artifactOrigins,
    clock: systemClock,
    version: '1.2.3',
    scrub: NOT_SCRUBBED,
  });
  onTestFinished(() => client.close());
  return client;
}

function exemptionOf(text: string): Exemption {
  const parsed = exemption(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

async function* pieces(...texts: readonly string[]): Pieces {
  for (const text of texts) yield Buffer.from(text);
}

async function failureOf(client: ServiceClient) {
  const answer = await client.post('/x', {}, options);
  if (answer.ok) throw new Error('the answer was taken');
  expect(answer.failure.message).not.toMatch(SECRETS);
  return answer.failure;
}

it('goes to an http service through the proxy with the whole URL, also with streamed bodies', async () => {
  const service = await UploadService.start();
  service.next('/x', async (request, reply) => {
    await read(request);
    json(reply, 200, { hello: 'agent' });
  });
  const proxy = await httpProxy({ authorization: AUTHORIZATION });
  const named = new URL(`http://service.test:${service.url.port}`);
  const client = clientOf(named, proxy.url('ann:s3%3Acret'));
  const answer = await client.post('/x', { a: 1 }, options);
  expect(answer).toEqual({ ok: true, value: { hello: 'agent' }, bytes: 17 });
  const part = { n: 1, url: '/agent/v1/artifacts/u/parts/1', method: 'PUT' as const, headers: {} };
  expect(await client.put(part, pieces('abc', 'def'), 6, options)).toMatchObject({ ok: true });
  expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
    `POST ${named.origin}/x`,
    `PUT ${named.origin}/agent/v1/artifacts/u/parts/1`,
  ]);
  expect(service.seen.map(({ body }) => String(body))).toEqual(['{"a":1}', 'abcdef']);
  expect(service.seen[0]?.headers).toMatchObject({
    host: named.host,
    authorization: `Bearer ${KEY}`,
  });
});

it('opens no more connections to a proxy than to a service', async () => {
  const service = await UploadService.start();
  service.always('/x', () => {});
  const proxy = await httpProxy();
  const client = clientOf(service.url, proxy.url());
  const asked = Array.from({ length: 20 }, () =>
    client.post('/x', {}, { ...options, signal: new AbortController().signal }),
  );
  await eventually(() => service.seen.length === 8);
  expect(proxy.open).toBe(8);
  await client.close();
  expect((await Promise.all(asked)).every(({ ok }) => !ok)).toBe(true);
  await proxy.idle();
});

it('goes to the object store through the proxy, and directly to what NO_PROXY names', async () => {
  const store = await UploadService.start();
  const service = await UploadService.start();
  service.next('/x', async (request, reply) => {
    await read(request);
    json(reply, 200, { hello: 'directly' });
  });
  const proxy = await httpProxy();
  const origin = `http://store.test:${store.url.port}`;
  const client = clientOf(service.url, proxy.url(), {
    exempt: ['store.example', `127.0.0.1:${service.url.port}`],
    artifactOrigins: [origin],
  });
  expect(await client.post('/x', {}, options)).toMatchObject({ ok: true });
  expect(proxy.requests).toEqual([]);
  const url = `${origin}/bucket/parts/1?signature=a%2Fb`;
  const part = { n: 1, url, method: 'PUT' as const, headers: { 'X-Amz-Signed': 'yes' } };
  expect(await client.put(part, pieces('abc'), 3, options)).toMatchObject({ ok: true });
  expect(proxy.requests).toMatchObject([{ method: 'PUT', target: url }]);
  expect(proxy.requests[0]?.headers).toMatchObject({ 'x-amz-signed': 'yes' });
  expect(proxy.requests[0]?.headers.authorization).toBeUndefined();
});

it('opens a tunnel to an https service, and verifies its certificate', async () => {
  const identity = await createSelfSigned({ names: ['service.test'] });
  const server = createServer(identity);
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const proxy = await httpProxy({ authorization: AUTHORIZATION });
  const failure = await failureOf(
    clientOf(new URL(`https://service.test:${port}`), proxy.url('ann:s3%3Acret')),
  );
  expect(failure).toMatchObject({ kind: 'offline', status: null });
  expect(failure.message).toMatch(
    /^the service at https:\/\/service\.test:\d+ \(through the proxy http:\/\/127\.0\.0\.1:\d+\) cannot be reached: its certificate is not trusted/,
  );
  expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: `service.test:${port}` }]);
});

const HTTPS = new URL('https://service.test:9443');
const HTTP = new URL('http://service.test:9080');

it.each([
  [HTTPS, 'HTTPS_PROXY'],
  [HTTP, 'HTTP_PROXY'],
])('does not take a 407 for an answer of the service: %s', async (serviceUrl, variable) => {
  const proxy = await httpProxy({ authorization: AUTHORIZATION });
  const missing = await failureOf(clientOf(serviceUrl, proxy.url()));
  expect(missing.kind).toBe('offline');
  expect(missing.message).toContain(`through the proxy http://127.0.0.1:${proxy.port}`);
  expect(missing.message).toContain(`(407); put a user and a password into ${variable}`);
  const wrong = await failureOf(clientOf(serviceUrl, proxy.url('ann:wrong')));
  expect(wrong.kind).toBe('offline');
  expect(wrong.message).toContain(`rejected the user and password of ${variable} (407)`);
});

it.each([HTTPS, HTTP])('names an unreachable proxy in the failure: %s', async (serviceUrl) => {
  const closed = await refusingPort();
  onTestFinished(() => closed.close());
  const failure = await failureOf(
    clientOf(serviceUrl, `http://ann:s3%3Acret@127.0.0.1:${closed.port}`),
  );
  expect(failure.kind).toBe('offline');
  expect(failure.message).toMatch(
    /no connection to the proxy: it refused the connection \(ECONNREFUSED\); see HTTPS?_PROXY$/,
  );
});

it('names a proxy in the failure whose name cannot be resolved', async () => {
  const failure = await failureOf(clientOf(HTTPS, 'http://proxy.invalid:3128'));
  expect(failure.message).toMatch(/proxy: (its name is not known|no name server answered) \(E/);
});

it('rejects a proxy with an untrusted certificate', async () => {
  const proxy = await httpProxy({ identity: await createSelfSigned() });
  for (const serviceUrl of [HTTPS, HTTP]) {
    const failure = await failureOf(clientOf(serviceUrl, proxy.url()));
    expect(failure.message).toMatch(
      /no connection to the proxy: its certificate is not trusted; name a file .*NODE_EXTRA_CA_CERTS/,
    );
  }
  expect(proxy.requests).toEqual([]);
});

it('names a proxy in the failure that speaks no TLS', async () => {
  const proxy = await httpProxy();
  const failure = await failureOf(clientOf(HTTPS, `https://127.0.0.1:${proxy.port}`));
  expect(failure.message).toContain('no connection to the proxy: it does not use TLS');
  expect(failure.message).not.toContain('SERVICE_URL');
});

it.each<[string, (peer: Peer) => Promise<void>, RegExp]>([
  [
    'forbids it',
    answering('HTTP/1.1 403 Access violation\r\n\r\n'),
    /the proxy answered 403 \(Access violation\) to CONNECT; its rules have to allow/,
  ],
  [
    'cannot either',
    answering('HTTP/1.1 503 x\r\n\r\n'),
    /503 \(x\) to CONNECT: it could not reach/,
  ],
  ['hangs up', answering(), /no tunnel through the proxy: it closed the connection/],
  ['is none', answering('+OK redis\r\n'), /the server there is not an HTTP proxy; see HTTPS_PROXY/],
])(
  'a proxy that makes no tunnel is named, and what it said: it %s',
  async (_name, script, message) => {
    const proxy = await rawServer(script);
    const failure = await failureOf(clientOf(HTTPS, proxy.url().replace('//', '//ann:s3%3Acret@')));
    expect(failure).toMatchObject({ kind: 'offline', status: null });
    expect(failure.message).toMatch(message);
    await proxy.idle();
  },
);

it.each<[string, number, string]>([
  ['forbids', 403, 'failed'],
  ['cannot reach', 503, 'busy'],
  ['cannot reach', 502, 'failed'],
])(
  'an error page of a proxy that %s the service is not an answer of the service: %i',
  async (_name, status, kind) => {
    const proxy = await rawServer(answering(response(`${status} No`, '<h1>no</h1>')));
    const failure = await failureOf(clientOf(HTTP, proxy.url()));
    expect(failure).toMatchObject({ kind, status });
    expect(failure.message).toContain(`an answer of the proxy http://127.0.0.1:${proxy.port}?`);
  },
);

it("the service's own refusal is recognized as its own through a proxy", async () => {
  const service = await UploadService.start();
  service.always('/x', failing(403, 'no such key'));
  const proxy = await httpProxy();
  const failure = await failureOf(clientOf(service.url, proxy.url()));
  expect(failure).toMatchObject({ kind: 'unauthorized', status: 403 });
  expect(failure.message).toContain('no such key');
});

it.each([HTTPS, HTTP])(
  'stops at once while the proxy keeps silent, and leaves no connection: %s',
  async (url) => {
    const proxy = await rawServer(() => {});
    const client = clientOf(url, proxy.url());
    const asked = client.post('/x', {}, options);
    await eventually(() => proxy.open === 1);
    await client.close();
    expect(await asked).toMatchObject({ ok: false, failure: { kind: 'stopped' } });
    await proxy.idle();
  },
);

it('holds a long poll through the proxy, and ends it with its signal', async () => {
  const service = await UploadService.start();
  service.always('/x', () => {});
  const proxy = await httpProxy();
  const client = clientOf(service.url, proxy.url());
  const ended = new AbortController();
  const asked = client.post('/x', {}, { ...options, signal: ended.signal });
  await eventually(() => service.seen.length === 1);
  ended.abort();
  expect(await asked).toMatchObject({ ok: false, failure: { kind: 'stopped' } });
  await proxy.idle();
});

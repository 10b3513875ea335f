import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isNetworkError } from '../../../../../src/agent/probes/probe.ts';
import { logText, makeContext, staticResolver } from '../../../../support/agent/probe-context.ts';
import { realStarvation } from '../../../../support/process/held-loop.ts';
import {
  type Authority,
  createAuthority,
  createSelfSigned,
  type Identity,
} from '../../../../support/servers/certificates.ts';
import { httpProxy } from '../../../../support/servers/http-proxy.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { http2Server } from '../../../../support/servers/http2/servers.ts';
import { refusingPort } from '../../../../support/servers/tcp-servers.ts';
import { listenOldTls } from '../../../../support/servers/tls-servers.ts';
import { trusting } from '../../../../support/tls-trust.ts';

let authority: Authority;
let client: Identity;
let good: Identity;
beforeAll(async () => {
  authority = await createAuthority();
  client = await authority.issue({ commonName: 'client' });
  good = await authority.issue({ names: ['good.test', 'also.test'] });
});

/** `user:p@ss wörd` as a URL has it, and as it is sent. */
const CREDENTIALS = 'user:p%40ss%20w%C3%B6rd';
const AUTHORIZATION = `Basic ${Buffer.from('user:p@ss wörd').toString('base64')}`;

describe('https', () => {
  test('goes through a tunnel, with HTTP/2 and certificates as without a proxy', async () => {
    const target = await http2Server(good, (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('through');
    });
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const context = makeContext();
    const outcome = await probe(`https://good.test:${target.port}/a?b=c`, {
      context,
      proxyUrl: proxy.url(CREDENTIALS),
      clientCertificates: [trusting(authority, client)],
    });
    expect(outcome.failure).toBeNull();
    expect(outcome.response).toMatchObject({
      status: 200,
      body: 'through',
      httpVersion: '2',
      ip: '127.0.0.1',
      tls: { authorized: true },
    });
    expect(proxy.requests).toMatchObject([
      { method: 'CONNECT', target: `good.test:${target.port}` },
    ]);
    // The proxy only learns of the tunnel.
    expect(Object.keys(proxy.requests[0]?.headers ?? {})).toEqual([
      'host',
      'user-agent',
      'proxy-authorization',
    ]);
    expect(target.requests[0]?.['proxy-authorization']).toBeUndefined();
    const { tcp, tls, total } = outcome.timingPhases;
    expect(Math.min(tcp, tls)).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual(tcp + tls);
    expect(logText(context)).toContain(
      `connecting through the proxy http://127.0.0.1:${proxy.port}`,
    );
    expect(logText(context)).toContain(`the proxy is connected to good.test:${target.port} in`);
    expect(outcome.endpoint).toMatchObject({ hostname: '127.0.0.1', port: proxy.port });
    await proxy.idle();
  });

  test.runIf(process.platform === 'linux')("has the proxy's TCP facts, and says so", async () => {
    const target = await http2Server(good, (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('through');
    });
    const proxy = await httpProxy();
    const outcome = await probe(`https://good.test:${target.port}/`, {
      context: makeContext({ starvation: await realStarvation() }),
      proxyUrl: proxy.url(),
      clientCertificates: [trusting(authority, client)],
    });
    // A busy machine sends some again, on the loopback interface, too.
    expect(outcome.tcp).toMatchObject({ peer: 'proxy', retransmits: expect.any(Number) });
    // The time that the proxy took to connect is in the phase, and is no time of our kernel.
    expect(outcome.timingPhases.tcp).toBeGreaterThan(outcome.tcp?.minRttMs ?? 0);
    await proxy.idle();
  });

  test('a certificate is verified as without a proxy, and the message names both', async () => {
    const other = await authority.issue({ names: ['else.test'] });
    const target = await http2Server(other, (stream) => stream.end());
    const proxy = await httpProxy();
    const { failure, tls } = await probe(`https://good.test:${target.port}/`, {
      proxyUrl: proxy.url(),
      clientCertificates: [trusting(authority, client)],
    });
    expect(failure?.code).toBe('TLS_HOSTNAME_MISMATCH');
    expect(failure?.message).toContain(
      `good.test:${target.port} through the proxy http://127.0.0.1:${proxy.port} showed`,
    );
    expect(tls?.certificate?.subjectAltNames).toEqual(['else.test']);
    await proxy.idle();
  });

  test('the second handshake with a server of old TLS goes through the proxy, too', async () => {
    const target = await listenOldTls(await createSelfSigned(), 'TLSv1.1');
    onTestFinished(() => target.close());
    const proxy = await httpProxy();
    const { failure } = await probe(`https://old.test:${target.port}/`, { proxyUrl: proxy.url() });
    expect(failure?.code).toBe('TLS_PROTOCOL_UNSUPPORTED');
    expect(proxy.requests.map(({ target: asked }) => asked)).toEqual([
      `old.test:${target.port}`,
      `old.test:${target.port}`,
    ]);
    // Both connections came from the proxy.
    expect(target.accepted).toBe(2);
    await proxy.idle();
  });
});

describe('http', () => {
  test('goes to the proxy with the whole URL, which forwards it', async () => {
    const target = await rawServer(answering(response('200 OK', 'passed on')));
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const context = makeContext();
    const url = `http://plain.test:${target.port}/a/b?c=d`;
    const outcome = await probe(url, {
      context,
      proxyUrl: proxy.url(CREDENTIALS),
      request: { method: 'POST', bodyType: 'RAW', body: 'ask' },
    });
    expect(outcome.response).toMatchObject({ status: 200, body: 'passed on', url });
    expect(proxy.requests).toMatchObject([
      {
        method: 'POST',
        target: url,
        headers: { host: `plain.test:${target.port}`, 'proxy-authorization': AUTHORIZATION },
      },
    ]);
    expect(target.requests[0]).toMatch(/^POST \/a\/b\?c=d HTTP\/1\.1\r\n/);
    // Only the proxy gets the credentials.
    const told = JSON.stringify([outcome, logText(context)]);
    expect(told).not.toMatch(/p@ss|p%40ss|roxy-authorization/i);
    expect(told).not.toContain(AUTHORIZATION.slice(6));
    await proxy.idle();
  });

  test('the credentials of the proxyUrl take precedence over those of the check', async () => {
    const target = await rawServer(answering(response('200 OK')));
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const { response: got } = await probe(`http://plain.test:${target.port}/`, {
      proxyUrl: proxy.url(CREDENTIALS),
      request: { headers: [{ key: 'Proxy-Authorization', value: 'Basic eDp5' }] },
    });
    expect(got?.status).toBe(200);
  });

  test('a Host of the check is lost, and the job log says so', async () => {
    const target = await rawServer(answering(response('200 OK')));
    const proxy = await httpProxy();
    const context = makeContext();
    await probe(`http://plain.test:${target.port}/`, {
      context,
      proxyUrl: proxy.url(),
      request: { headers: [{ key: 'Host', value: 'other.test' }] },
    });
    expect(target.requests[0]).toContain(`plain.test:${target.port}`);
    expect(logText(context)).toContain('the header Host (other.test) is lost');
  });

  test("a gateway's status is an answer, which may be the proxy's", async () => {
    const closed = await refusingPort();
    onTestFinished(() => closed.close());
    const proxy = await httpProxy();
    const context = makeContext();
    const { response: got, failure } = await probe(`http://plain.test:${closed.port}/`, {
      context,
      proxyUrl: proxy.url(),
    });
    expect(failure).toBeNull();
    expect(got?.status).toBe(502);
    expect(logText(context)).toContain("the 502 may be the proxy's own");
  });
});

test('each redirect goes through the proxy in the way of its scheme', async () => {
  const secure = await http2Server(good, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('there');
  });
  const there = `https://good.test:${secure.port}/there`;
  const plain = await rawServer(answering(response('302 Found', '', `Location: ${there}`)));
  const proxy = await httpProxy();
  const { response: got } = await probe(`http://plain.test:${plain.port}/`, {
    proxyUrl: proxy.url(),
    clientCertificates: [trusting(authority, client)],
  });
  expect(got).toMatchObject({ status: 200, body: 'there', url: there });
  expect(proxy.requests.map(({ method }) => method)).toEqual(['GET', 'CONNECT']);
});

describe('no way through the proxy', () => {
  const URLS = ['https://good.test:1/', 'http://good.test:1/'] as const;

  test.each(URLS)('without required credentials: PROXY_AUTH_REQUIRED for %s', async (url) => {
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const missing = await probe(url, { proxyUrl: proxy.url() });
    expect(missing.failure).toMatchObject({
      code: 'PROXY_AUTH_REQUIRED',
      message: expect.stringMatching(/407 \(Who are you\); the location's proxyUrl has to name/),
    });
    expect(isNetworkError(missing)).toBe(true);
    const wrong = await probe(url, { proxyUrl: proxy.url('user:secr3t') });
    expect(wrong.failure?.code).toBe('PROXY_AUTH_REQUIRED');
    expect(wrong.failure?.message).toContain('it rejected the user and password');
    expect(JSON.stringify(wrong)).not.toMatch(/secr3t|dXNlcjp/);
    await proxy.idle();
  });

  test.each(URLS)(
    'with a password that the service cannot decrypt: CREDENTIAL_NOT_READABLE, and nothing is sent for %s',
    async (url) => {
      let connections = 0;
      const proxy = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void proxy.close());
      const { port } = proxy.address() as AddressInfo;
      for (const masked of ['user:********', '********', 'user:%2A%2A%2A%2A%2A%2A%2A%2A']) {
        const { failure, sent } = await probe(url, {
          proxyUrl: `http://${masked}@127.0.0.1:${port}`,
        });
        expect(sent).toBe(false);
        expect(failure).toMatchObject({
          code: 'CREDENTIAL_NOT_READABLE',
          message: expect.stringContaining("The location's proxyUrl has a credential that the"),
        });
      }
      expect(connections).toBe(0);
    },
  );

  test.each(URLS)('where nothing listens: PROXY_UNREACHABLE for %s', async (url) => {
    const closed = await refusingPort();
    onTestFinished(() => closed.close());
    const outcome = await probe(url, { proxyUrl: `http://u:secr3t@127.0.0.1:${closed.port}` });
    expect(outcome.failure).toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: expect.stringMatching(
        new RegExp(
          `^The proxy http://127\\.0\\.0\\.1:${closed.port} cannot be used: .*refused the connection`,
        ),
      ),
    });
    expect(isNetworkError(outcome)).toBe(true);
    expect(outcome.endpoint).toMatchObject({ address: '127.0.0.1', port: closed.port });
    expect(JSON.stringify(outcome)).not.toContain('secr3t');
  });

  test('a name that cannot be resolved: PROXY_UNREACHABLE', async () => {
    const { failure } = await probe(URLS[0], { proxyUrl: 'http://proxy.invalid:3128' });
    expect(failure).toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: expect.stringContaining('proxy.invalid does not exist'),
    });
  });

  test('a certificate of its own that is not trusted: PROXY_UNREACHABLE', async () => {
    const proxy = await httpProxy({ identity: await createSelfSigned() });
    const { failure, tls } = await probe(URLS[0], {
      proxyUrl: proxy.url(),
      // Neither concerns the proxy.
      request: { skipSSL: true },
    });
    expect(failure).toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: expect.stringMatching(/showed a self-signed certificate/),
    });
    expect(tls).toBeNull();
    expect(proxy.requests).toEqual([]);
    await proxy.idle();
  });

  test.each([
    ['', ''],
    ['ftp://proxy.test:21', ''],
    ['http://user:pa/ss@proxy.test:3128', 'pa'],
    ['http://proxy.test:99999', '99999'],
  ])('an invalid proxyUrl (%s): PROXY_UNREACHABLE', async (proxyUrl, hidden) => {
    const outcome = await probe(URLS[0], { proxyUrl });
    expect(outcome.failure?.code).toBe('PROXY_UNREACHABLE');
    expect(isNetworkError(outcome)).toBe(true);
    if (hidden !== '') expect(outcome.failure?.message).not.toContain(`${hidden}/`);
  });

  test('only IPv6 leads to it: it is reached by that, whatever the family of the check', async () => {
    const target = await rawServer(answering(response('200 OK', 'x')), '::1');
    // It answers as a proxy would.
    const resolver = staticResolver({ 'proxy.v6': ['::1'] });
    const { response: got } = await probe('http://plain.test/', {
      context: makeContext({ resolver }),
      proxyUrl: `http://proxy.v6:${target.port}`,
    });
    expect(got).toMatchObject({ status: 200, ip: '::1', ipFamily: 'IPv6' });
  });
});

import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { TLSSocket } from 'node:tls';
import { request } from 'undici';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { chooseProxy } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { readOutgoingConfig } from '../../../../src/service/outgoing/outgoing-config.ts';
import { outgoingDispatcher } from '../../../../src/service/outgoing/outgoing-dispatcher.ts';
import { createOutgoingHttp } from '../../../../src/service/outgoing/outgoing-http.ts';
import { connectThroughProxy } from '../../../../src/service/outgoing/proxy-connection.ts';
import { reachableAddresses } from '../../../../src/service/outgoing/reachable-addresses.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { hookServer, statuses } from '../../../support/servers/hook-server.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';
import { answering, listen, type Peer, rawServer } from '../../../support/servers/http-servers.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';

const NEVER = new AbortController().signal;
const within = (timeoutMs: number) => ({ timeoutMs, signal: NEVER });
const CREDENTIALS = 'ann:s3%3Acret';
const AUTHORIZATION = `Basic ${Buffer.from('ann:s3:cret').toString('base64')}`;
const SECRETS = /s3(:|%3A)cret|YW5uO|\n/;
/** Receivers are on the loopback. */
const OPEN = { DELIVERY_DENY: '192.0.2.0/24' };

/** Sends as an alert channel, or as the service to addresses of its own configuration. */
function senderOf(env: Record<string, string>) {
  const config = readOutgoingConfig(env);
  const http = createOutgoingHttp(reachableAddresses(config), config.proxies);
  onTestFinished(() => http.close());
  return async (url: string, { isGuarded = true, headers = {} } = {}) => {
    const sent = { 'x-team': 'ops', ...headers };
    const request = { method: 'POST', url: new URL(url), headers: sent } as const;
    const outcome = await http.send({ ...request, body: '{"a":1}', isGuarded }, NEVER);
    expect(JSON.stringify(outcome)).not.toMatch(SECRETS);
    return outcome;
  };
}

/** A receiver with a certificate for `localhost` that nothing trusts. */
async function tlsReceiver() {
  const seen: { servername: unknown; body: string; team: unknown }[] = [];
  const server = createServer(
    await createSelfSigned({ names: ['localhost'] }),
    (request, reply) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { servername } = request.socket as TLSSocket & { servername: unknown };
        seen.push({
          servername,
          body: Buffer.concat(parts).toString(),
          team: request.headers['x-team'],
        });
        reply.end('ok');
      });
    },
  );
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, url: `https://localhost:${port}/hook`, seen };
}

afterEach(() => vi.unstubAllEnvs());

describe('requests of the service through a proxy', () => {
  it('reach an https receiver by CONNECT to the address that the service checked', async () => {
    // Node reads it for each connection.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const receiver = await tlsReceiver();
    const proxy = await httpProxy();
    const send = senderOf({ ...OPEN, HTTPS_PROXY: proxy.url() });
    expect(await send(receiver.url)).toMatchObject({ ok: true, status: 200, answer: 'ok' });
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT' }]);
    expect([`127.0.0.1:${receiver.port}`, `[::1]:${receiver.port}`]).toContain(
      proxy.requests[0]?.target,
    );
    expect(receiver.seen).toEqual([{ servername: 'localhost', body: '{"a":1}', team: 'ops' }]);
  });

  it('verify the certificate of the receiver', async () => {
    const receiver = await tlsReceiver();
    const proxy = await httpProxy();
    const outcome = await senderOf({ ...OPEN, https_proxy: proxy.url() })(receiver.url);
    expect(outcome).toMatchObject({ ok: false, isFinal: false });
    expect(outcome).toMatchObject({
      error: 'no trusted authority issued the certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(proxy.requests).toHaveLength(1);
    expect(receiver.seen).toEqual([]);
  });

  it('verify the certificate of the proxy before it gets the credentials', async () => {
    const proxy = await httpProxy({ identity: await createSelfSigned({ names: ['localhost'] }) });
    const url = proxy.url(CREDENTIALS);
    const send = senderOf({ ...OPEN, HTTPS_PROXY: url, HTTP_PROXY: url });
    for (const [target, variable] of [
      ['https://localhost/hook', 'HTTPS_PROXY'],
      ['http://127.0.0.1/hook', 'HTTP_PROXY'],
    ] as const) {
      expect(await send(target)).toMatchObject({
        ok: false,
        isOfReceiver: false,
        error: `no connection to the proxy of ${variable}: no trusted authority issued the certificate (DEPTH_ZERO_SELF_SIGNED_CERT)`,
      });
    }
    expect(proxy.requests).toEqual([]);
  });

  it('reach a proxy that speaks TLS itself', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const receiver = await tlsReceiver();
    const proxy = await httpProxy({ identity: await createSelfSigned({ names: ['localhost'] }) });
    const send = senderOf({ ...OPEN, HTTPS_PROXY: proxy.url() });
    expect(await send(receiver.url)).toMatchObject({ ok: true });
    expect(receiver.seen).toHaveLength(1);
  });

  it('reach an http receiver by CONNECT, too, since its name could lead the proxy elsewhere', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const send = senderOf({ ...OPEN, HTTP_PROXY: proxy.url() });
    expect(await send(`http://localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([{ method: 'CONNECT' }]);
    expect(proxy.requests[0]?.target).not.toContain('localhost');
    expect(receiver.requests).toMatchObject([
      { path: '/hook', body: '{"a":1}', headers: { host: `localhost:${receiver.port}` } },
    ]);
  });

  it('name an http peer of the own configuration, and an address, by their whole URL', async () => {
    const peer = await hookServer();
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const send = senderOf({ ...OPEN, http_proxy: proxy.url(CREDENTIALS) });
    const named = `http://sms.test:${peer.port}/send?a=1`;
    expect(await send(named, { isGuarded: false })).toMatchObject({ ok: true });
    expect(await send(peer.url)).toMatchObject({ ok: true });
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `POST ${named}`,
      `POST ${peer.url}`,
    ]);
    expect(peer.requests).toMatchObject([
      { path: '/send?a=1', body: '{"a":1}', headers: { 'x-team': 'ops' } },
      { path: '/hook' },
    ]);
    expect(peer.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('go to the host of the URL, though its path looks like another host', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const send = senderOf({ ...OPEN, HTTP_PROXY: proxy.url(CREDENTIALS) });
    const forwarded = `http://127.0.0.1:${receiver.port}//192.0.2.1/a`;
    expect(await send(forwarded)).toMatchObject({ ok: true });
    const tunnelled = `http://localhost:${receiver.port}//127.0.0.1/b`;
    expect(await send(tunnelled)).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([
      { method: 'POST', target: forwarded },
      { method: 'CONNECT' },
    ]);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['//192.0.2.1/a', '//127.0.0.1/b']);
    for (const { headers } of receiver.requests) {
      expect(headers['proxy-authorization']).toBeUndefined();
    }
  });

  it('do not send the proxy credentials that a user of the service has set as a header', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const headers = { 'proxy-authorization': AUTHORIZATION };
    const outcome = await senderOf({ ...OPEN, HTTP_PROXY: proxy.url() })(receiver.url, { headers });
    expect(outcome).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([{ method: 'POST' }]);
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('go directly to hosts of NO_PROXY', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const proxies = { HTTP_PROXY: proxy.url(), HTTPS_PROXY: proxy.url() };
    const send = senderOf({ ...OPEN, ...proxies, NO_PROXY: `127.0.0.1:${receiver.port}` });
    expect(await send(receiver.url)).toMatchObject({ ok: true });
    expect(proxy.requests).toEqual([]);
    const other = await hookServer();
    expect(await send(other.url)).toMatchObject({ ok: true });
    expect(proxy.requests).toHaveLength(1);
  });

  it.each([
    'http://127.0.0.1/hook',
    'https://127.0.0.1/hook',
    'http://localhost/hook',
    'https://localhost/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'http://169.254.169.254/latest',
  ])('do not reach %s, which is denied', async (url) => {
    const proxy = await httpProxy();
    const send = senderOf({ HTTP_PROXY: proxy.url(), HTTPS_PROXY: proxy.url() });
    expect(await send(url)).toMatchObject({
      ok: false,
      isFinal: true,
      error: expect.stringMatching(/ may not be reached: DELIVERY_DENY denies its network$/),
    });
    expect(proxy.requests).toEqual([]);
    expect(proxy.open).toBe(0);
  });

  it('send the credentials of the proxy', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const send = senderOf({ ...OPEN, HTTP_PROXY: proxy.url(CREDENTIALS) });
    expect(await send(`http://localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([{ headers: { 'proxy-authorization': AUTHORIZATION } }]);
  });

  it.each([
    ['bob:s3%3Acret', 'the proxy of HTTPS_PROXY rejected its user and password (407)'],
    [undefined, 'the proxy of HTTPS_PROXY requires a user and a password (407)'],
  ])('fail without the right credentials (%s), and do not show them', async (given, error) => {
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const outcome = await senderOf({ ...OPEN, HTTPS_PROXY: proxy.url(given) })(
      'https://localhost/',
    );
    expect(outcome).toMatchObject({ ok: false, isFinal: false, isOfReceiver: false, error });
  });

  it('say of a forwarding proxy that it requires credentials', async () => {
    const proxy = await httpProxy({ authorization: AUTHORIZATION });
    const outcome = await senderOf({ ...OPEN, HTTP_PROXY: proxy.url() })('http://127.0.0.1/');
    const error = expect.stringContaining('407: the proxy of HTTP_PROXY requires');
    expect(outcome).toMatchObject({ ok: false, isFinal: false, isOfReceiver: false, error });
  });

  it('name no proxy if there is none and the receiver answers 407', async () => {
    const receiver = await hookServer(statuses(407));
    expect(await senderOf(OPEN)(receiver.url)).toMatchObject({
      ok: false,
      isOfReceiver: true,
      error: 'the answer was the status 407',
    });
  });

  it('fail for now, in one line, while the proxy is away', async () => {
    const away = await refusingPort();
    onTestFinished(() => away.close());
    const url = `http://${CREDENTIALS}@127.0.0.1:${away.port}`;
    const send = senderOf({ ...OPEN, HTTPS_PROXY: url, HTTP_PROXY: url });
    const failure = { ok: false, status: null, isFinal: false, isOfReceiver: false };
    for (const [scheme, variable] of [
      ['https', 'HTTPS_PROXY'],
      ['http', 'HTTP_PROXY'],
    ]) {
      expect(await send(`${scheme}://localhost/hook`)).toMatchObject({
        ...failure,
        error: `no connection to the proxy of ${variable}: the connection was refused (ECONNREFUSED)`,
      });
    }
  });

  it.each([
    ['HTTP/1.1 403 No s3:cret\r\n\r\n', false, 'answered 403 to CONNECT: its rules have to allow'],
    ['HTTP/1.1 501 Bad\r\n\r\n', false, 'answered 501 to CONNECT'],
    ['HTTP/1.1 502 Bad\r\n\r\n', true, 'answered 502 to CONNECT: it could not reach the host'],
    ['HTTP/1.1 503 Bad\r\n\r\n', true, 'answered 503 to CONNECT: it could not reach the host'],
    [
      'SSH-2.0-OpenSSH_9.6\r\n',
      false,
      'no tunnel through the proxy of HTTPS_PROXY: the server there',
    ],
    ['', false, 'it closed the connection without an answer'],
  ])(
    'say what the proxy answered, and whether the receiver is unreachable: %j, %j',
    async (answer, isOfReceiver, error) => {
      const { port } = await rawServer(answering(answer));
      const outcome = await senderOf({ ...OPEN, HTTPS_PROXY: `127.0.0.1:${port}` })(
        'https://127.0.0.1/hook',
      );
      expect(outcome).toMatchObject({ ok: false, isFinal: false, isOfReceiver });
      expect(outcome).toMatchObject({ error: expect.stringContaining(error) });
    },
  );

  it('do not wait longer for a proxy that does not answer', async () => {
    const { port } = await rawServer(() => {});
    const { proxies } = readOutgoingConfig({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const proxy = chooseProxy(proxies, new URL('https://localhost/'));
    if (proxy === null) throw new Error('there is a proxy');
    await expect(
      connectThroughProxy(proxy, { hosts: ['localhost'], port: 443 }, within(50)),
    ).rejects.toMatchObject({
      message: 'no tunnel through the proxy of HTTPS_PROXY: it did not answer within 0.05 s',
      // Most proxies wait longer for a receiver that does not answer.
      isOfReceiver: true,
    });
  });

  it('do not wait longer for a proxy that never ends the head of its answer', async () => {
    const { port } = await rawServer(({ socket, closed }) => {
      socket.write('HTTP/1.1 200 OK\r\nx-');
      const drip = setInterval(() => socket.write('x'), 5);
      void closed.then(() => clearInterval(drip));
    });
    const { proxies } = readOutgoingConfig({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
    const proxy = chooseProxy(proxies, new URL('https://localhost/'));
    if (proxy === null) throw new Error('there is a proxy');
    await expect(
      connectThroughProxy(proxy, { hosts: ['localhost'], port: 443 }, within(50)),
    ).rejects.toMatchObject({
      message: 'no tunnel through the proxy of HTTPS_PROXY: it did not answer within 0.05 s',
      // Most proxies wait longer for a receiver that does not answer.
      isOfReceiver: true,
    });
  });

  it('try the next address of the receiver where the proxy does not reach the first', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy({ resolve: (host) => host });
    const { proxies } = readOutgoingConfig({ HTTPS_PROXY: proxy.url() });
    const chosen = chooseProxy(proxies, new URL('https://localhost/'));
    if (chosen === null) throw new Error('there is a proxy');
    // Nothing listens at this port of the first address.
    const hosts = ['127.0.0.2', '127.0.0.1'];
    const socket = await connectThroughProxy(chosen, { hosts, port: receiver.port }, within(5_000));
    socket.destroy();
    expect(proxy.requests.map(({ target }) => target)).toEqual(
      hosts.map((host) => `${host}:${receiver.port}`),
    );
  });

  it('try an IPv4 address of the receiver after the first IPv6 one', async () => {
    const receiver = await hookServer();
    // Nothing listens at this port of 127.0.0.2.
    const resolve = (host: string) => (host.includes(':') ? '127.0.0.2' : host);
    const proxy = await httpProxy({ resolve });
    const { proxies } = readOutgoingConfig({ HTTPS_PROXY: proxy.url() });
    const chosen = chooseProxy(proxies, new URL('https://localhost/'));
    if (chosen === null) throw new Error('there is a proxy');
    const hosts = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '127.0.0.1'];
    const socket = await connectThroughProxy(chosen, { hosts, port: receiver.port }, within(5_000));
    socket.destroy();
    expect(proxy.requests.map(({ target }) => target)).toEqual([
      `[2001:db8::1]:${receiver.port}`,
      `127.0.0.1:${receiver.port}`,
    ]);
  });
});

describe('a connection in progress', () => {
  const silent = () => {};
  const opensTunnel = async (peer: Peer) => {
    await peer.request();
    await peer.send('HTTP/1.1 200 OK\r\n\r\n');
    // The first message of the TLS handshake.
    await once(peer.socket, 'data');
  };

  it.each([
    ['TLS with the receiver', silent, false],
    ['to the proxy and through it', silent, true],
    ['TLS with the receiver behind the proxy', opensTunnel, true],
  ] as const)('ends with the dispatcher: %s', async (_step, script, isProxy) => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const server = await rawServer(async (peer) => {
      await script(peer);
      begin();
    });
    const { proxies } = readOutgoingConfig(
      isProxy ? { HTTPS_PROXY: `http://127.0.0.1:${server.port}` } : {},
    );
    const limits = { connectTimeoutMs: 600_000 };
    const dispatcher = outgoingDispatcher({ proxies, reachable: null, ...limits });
    const answer = request(`https://127.0.0.1:${server.port}/`, { dispatcher }).catch(
      (error: unknown) => error,
    );
    await begun;
    await dispatcher.destroy();
    expect(await answer).toMatchObject({ code: 'UND_ERR_DESTROYED' });
    await server.idle();
  });

  it('does not wait longer for the name of a receiver behind a proxy', async () => {
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(() => {});
    syncBuiltinESMExports();
    onTestFinished(() => {
      lookup.mockRestore();
      syncBuiltinESMExports();
    });
    const config = readOutgoingConfig({ ...OPEN, HTTPS_PROXY: 'http://127.0.0.1:9' });
    const reachable = reachableAddresses(config);
    const { proxies } = config;
    const dispatcher = outgoingDispatcher({ proxies, reachable, connectTimeoutMs: 50 });
    onTestFinished(() => dispatcher.destroy());
    await expect(request('https://slow.test/', { dispatcher })).rejects.toThrow(
      'the service could not look up slow.test (ETIMEOUT); the proxy of HTTPS_PROXY looks up only names of DELIVERY_ALLOW',
    );
    expect(lookup).toHaveBeenCalled();
  });
});

describe('DELIVERY_ALLOW', () => {
  it('lets an address through that is denied by default, and no other', async () => {
    const receiver = await hookServer();
    const send = senderOf({ DELIVERY_ALLOW: '127.0.0.1' });
    expect(await send(receiver.url)).toMatchObject({ ok: true });
    expect(await send('http://127.0.0.2/')).toMatchObject({ ok: false, isFinal: true });
    expect(receiver.requests).toHaveLength(1);
  });

  it('lets an address through that DELIVERY_DENY denies, also behind a proxy', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const send = senderOf({
      DELIVERY_DENY: '127.0.0.0/8 ::1',
      DELIVERY_ALLOW: '127.0.0.1/32',
      HTTP_PROXY: proxy.url(),
    });
    expect(await send(`http://localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
    expect(proxy.requests.map(({ target }) => target)).toEqual([`127.0.0.1:${receiver.port}`]);
    expect(await send('http://127.0.0.2/')).toMatchObject({ ok: false, isFinal: true });
  });

  it('lets a name through, whatever its addresses are', async () => {
    const receiver = await hookServer();
    const send = senderOf({ DELIVERY_ALLOW: 'LOCALHOST' });
    expect(await send(`http://localhost:${receiver.port}/hook`)).toMatchObject({ ok: true });
    expect(await send(receiver.url)).toMatchObject({ ok: false, isFinal: true });
  });

  it('lets the proxy look up a name that the service cannot look up', async () => {
    const receiver = await hookServer();
    const proxy = await httpProxy();
    const send = senderOf({ DELIVERY_ALLOW: '*.receivers.invalid', HTTP_PROXY: proxy.url() });
    const url = `http://hook.receivers.invalid:${receiver.port}/hook`;
    expect(await send(url)).toMatchObject({ ok: true });
    expect(proxy.requests).toMatchObject([{ method: 'POST', target: url }]);
    const unknown = await send('http://receivers.invalid/hook');
    expect(unknown).toMatchObject({
      ok: false,
      isFinal: false,
      // Without a name server, the failure may be the service's.
      isOfReceiver: JSON.stringify(unknown).includes('(ENOTFOUND)'),
      error: expect.stringMatching(
        /^the service could not look up receivers\.invalid \(\w+\); the proxy of HTTP_PROXY looks up only names of DELIVERY_ALLOW$/,
      ),
    });
    expect(proxy.requests).toHaveLength(1);
  });
});

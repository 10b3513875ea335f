import { describe, expect, test } from 'vitest';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';

const CREDENTIALS = {
  basicAuth: { username: 'ann', password: 's3same' },
  headers: [
    { key: 'Cookie', value: 'session=1' },
    { key: 'X-API-Key', value: 'k' },
    { key: 'X-Plain', value: 'p' },
  ],
};

function redirectTo(location: string, status = '302 Found'): Buffer {
  return response(status, 'moved', `Location: ${location}`);
}

describe('following', () => {
  test('the last response is the answer, with the redirects before it', async () => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      if (path === '/a/start?x=1') await peer.send(redirectTo('../b'));
      else if (path === '/b') await peer.send(redirectTo('c#part', '308 Permanent Redirect'));
      else await peer.send(response('200 OK', `at ${path}`));
    });
    const context = makeContext();
    const { response: got, failure } = await probe(server.url('/a/start?x=1'), { context });
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: 200, body: 'at /c', url: server.url('/c') });
    expect(got?.redirects).toEqual([
      { status: 302, url: server.url('/a/start?x=1') },
      { status: 308, url: server.url('/b') },
    ]);
    expect(logText(context)).toContain(`Redirected to ${server.url('/b')}`);
    expect(logText(context)).toMatch(/GET \S+\/c: 200 .*firstByte/);
    await server.idle();
  });

  test('a check that does not follow takes the redirect as its answer', async () => {
    const server = await rawServer(answering(redirectTo('/next')));
    const { response: got } = await probe(server.url(), { request: { followRedirects: false } });
    expect(got).toMatchObject({ status: 302, body: 'moved', redirects: [] });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['300 with a Location', '300 Multiple Choices', ['Location: /next']],
    ['302 without one', '302 Found', []],
  ])('%s is an answer', async (_name, status, headers) => {
    const server = await rawServer(answering(response(status, 'here', ...headers)));
    const { response: got, failure } = await probe(server.url());
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: Number.parseInt(status, 10), body: 'here' });
  });

  test.each([
    ['301 Moved Permanently', 'POST', 'GET'],
    ['302 Found', 'POST', 'GET'],
    ['303 See Other', 'PUT', 'GET'],
    ['303 See Other', 'HEAD', 'HEAD'],
    ['302 Found', 'DELETE', 'DELETE'],
    ['307 Temporary Redirect', 'POST', 'POST'],
    ['308 Permanent Redirect', 'PATCH', 'PATCH'],
  ])('%s turns a %s into a %s', async (status, method, expected) => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      await peer.send(path === '/' ? redirectTo('/next', status) : response('200 OK'));
    });
    await probe(server.url(), { request: { method, bodyType: 'JSON', body: '{"a":1}' } });
    const second = server.requests[1] ?? '';
    expect(second).toMatch(new RegExp(`^${expected} /next `));
    expect(second.includes('{"a":1}')).toBe(method === expected);
    expect(/^content-type:/im.test(second)).toBe(second.includes('{"a":1}'));
  });

  test('an endless, broken or missing redirect body does not delay the chain', async () => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      if (path === '/silent') {
        await peer.send('HTTP/1.1 302 Found\r\nLocation: /endless\r\nContent-Length: 9\r\n\r\n');
        await peer.closed;
      } else if (path === '/endless') {
        await peer.send('HTTP/1.1 302 Found\r\nLocation: /broken\r\n\r\n');
        while (!peer.socket.destroyed) await peer.send('x'.repeat(10_000));
      } else if (path === '/broken') {
        await peer.send('HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 9\r\n\r\nx');
        peer.close();
      } else await peer.send(response('200 OK', 'end'));
    });
    const { response: got, failure } = await probe(server.url('/silent'));
    expect(failure).toBeNull();
    expect(got?.body).toBe('end');
    await server.idle();
  });

  test('a Location in UTF-8 is decoded', async () => {
    const location = Buffer.from('/grün').toString('latin1');
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      await peer.send(path === '/' ? redirectTo(location) : response('200 OK'));
    });
    expect((await probe(server.url())).response?.url).toBe(server.url('/gr%C3%BCn'));
  });
});

describe('not following', () => {
  test('several Locations are REDIRECT_INVALID, unless they are the same', async () => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      const second = path === '/same' ? '/end' : '/other';
      const locations = ['Location: /end', `Location: ${second}`];
      await peer.send(path === '/end' ? response('200 OK') : response('302 F', '', ...locations));
    });
    expect((await probe(server.url('/same'))).response).toMatchObject({ status: 200 });
    const { failure, response: got } = await probe(server.url('/different'));
    expect(failure).toMatchObject({
      code: 'REDIRECT_INVALID',
      message: expect.stringContaining('several different Locations'),
    });
    expect(got?.headers).toMatchObject({ location: ['/end', '/other'] });
  });

  test('ten redirects are followed, the eleventh is TOO_MANY_REDIRECTS', async () => {
    const server = await rawServer(async (peer) => {
      const left = Number((await peer.request()).split(' ')[1]?.slice(1));
      await peer.send(left === 0 ? response('200 OK') : redirectTo(`/${left - 1}`));
    });
    expect((await probe(server.url('/10'))).response).toMatchObject({ status: 200 });
    const { failure, response: got } = await probe(server.url('/11'));
    expect(failure?.code).toBe('TOO_MANY_REDIRECTS');
    expect(got).toMatchObject({ status: 302, body: 'moved', url: server.url('/1') });
    expect(got?.redirects).toHaveLength(10);
  });

  test('a redirect loop ends', async () => {
    const server = await rawServer(answering(redirectTo('/')));
    expect((await probe(server.url())).failure?.code).toBe('TOO_MANY_REDIRECTS');
    expect(server.requests).toHaveLength(11);
  });

  test.each(['ftp://127.0.0.1/', 'javascript:alert(1)', 'http://', 'http://[::1', ' '])(
    'the Location %j is REDIRECT_INVALID, and the response stays',
    async (location) => {
      const server = await rawServer(answering(redirectTo(location)));
      const { failure, response: got } = await probe(server.url());
      expect(failure?.code).toBe('REDIRECT_INVALID');
      expect(got).toMatchObject({ status: 302, body: 'moved' });
    },
  );

  test('a redirect to a denied network is ADDRESS_DENIED, and nothing is connected to (trust model SN3)', async () => {
    const inside = await rawServer(answering(response('200 OK', 'secret')), '127.0.0.2');
    const outside = await rawServer(answering(redirectTo(inside.url())));
    const network = { text: '127.0.0.2/32', address: '127.0.0.2', prefixBits: 32 };
    const context = makeContext({ guard: denyNetworks([network]) });
    const { failure, response: got } = await probe(outside.url(), { context });
    expect(failure?.code).toBe('ADDRESS_DENIED');
    expect(got).toBeNull();
    expect(inside.requests).toHaveLength(0);
  });

  test('the last hop decides: where it gets no answer, there is no response', async () => {
    const server = await rawServer(answering(redirectTo('http://127.0.0.1:1/')));
    const { failure, response: got } = await probe(server.url());
    expect(failure?.code).toBe('CONNECT_REFUSED');
    expect(got).toBeNull();
  });
});

describe('credentials', () => {
  test('credentials are sent along within an origin', async () => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      await peer.send(path === '/' ? redirectTo('/next') : response('200 OK'));
    });
    await probe(server.url(), { request: CREDENTIALS });
    const second = server.requests[1] ?? '';
    expect(second).toMatch(/^authorization: Basic /im);
    expect(second).toMatch(/^cookie: session=1\r$/im);
    expect(second).toMatch(/^x-api-key: k\r$/im);
  });

  test('credentials are not sent to another origin, nor back at the first one', async () => {
    const other = await rawServer(async (peer) => {
      await peer.request();
      await peer.send(redirectTo(home.url('/back')));
    });
    const home = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      await peer.send(path === '/' ? redirectTo(other.url('/')) : response('200 OK'));
    });
    const context = makeContext();
    const { failure } = await probe(home.url(), { request: CREDENTIALS, context });
    expect(failure).toBeNull();
    for (const request of [other.requests[0] ?? '', home.requests[1] ?? '']) {
      expect(request).toMatch(/^GET /);
      expect(request).toMatch(/^x-plain: p\r$/im);
      expect(request).not.toMatch(/^(authorization|cookie|x-api-key):/im);
    }
    expect(logText(context)).toContain('another origin: Cookie, X-API-Key, authorization left out');
    expect(logText(context)).not.toContain('s3same');
  });

  test('a Host header of the check stays with the origin that it was for', async () => {
    const other = await rawServer(answering(response('200 OK')));
    const home = await rawServer(answering(redirectTo(other.url())));
    const headers = [{ key: 'Host', value: 'virtual.example' }];
    await probe(home.url(), { request: { headers } });
    expect(other.requests[0]).toContain(`host: 127.0.0.1:${other.port}\r\n`);
  });

  test('user information in a Location is neither sent nor shown', async () => {
    const server = await rawServer(async (peer) => {
      const [, path] = (await peer.request()).split(' ');
      const url = `http://eve:hidden@127.0.0.1:${server.port}/next`;
      await peer.send(path === '/' ? redirectTo(url) : response('200 OK'));
    });
    const context = makeContext();
    const { response: got } = await probe(server.url(), { context });
    expect(got?.url).toBe(server.url('/next'));
    expect(server.requests[1]).not.toMatch(/^authorization:/im);
    expect(logText(context)).not.toContain('hidden');
  });
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { preparedRequest, probe } from '../../../../support/servers/http-requests.ts';
import {
  answering,
  listen,
  rawServer,
  response,
} from '../../../../support/servers/http-servers.ts';

test('a response has status, headers, body, address and the requested URL', async () => {
  const server = await rawServer(
    answering(
      response(
        '200 All Fine',
        '{"up":true}',
        'Content-Type: application/json',
        'X-Twice: a',
        'x-twice: b',
        'Set-Cookie: one=1',
        'Set-Cookie: two=2',
        '__proto__: odd',
      ),
    ),
  );
  const { response: got, failure, body, tls } = await probe(server.url('/health?full=1#part'));

  expect(failure).toBeNull();
  expect(got).toMatchObject({
    status: 200,
    statusText: 'All Fine',
    httpVersion: '1.1',
    ip: '127.0.0.1',
    ipFamily: 'IPv4',
    url: server.url('/health?full=1'),
    redirects: [],
    body: '{"up":true}',
    bodyEncoding: 'text',
    bodyBytes: 11,
    bodyTruncated: false,
    tls: null,
  });
  expect(Object.entries(got?.headers ?? {})).toEqual([
    ['content-type', 'application/json'],
    ['x-twice', 'a, b'],
    ['set-cookie', ['one=1', 'two=2']],
    ['__proto__', 'odd'],
    ['content-length', '11'],
  ]);
  expect(body?.toString()).toBe('{"up":true}');
  expect(tls).toBeNull();
});

test('the request has the defaults of a client that is no browser, and no fragment', async () => {
  const server = await rawServer(answering(response('200 OK')));
  await probe(server.url('/a/b?q=1#part'));
  const [request = ''] = server.requests;
  expect(request).toMatch(/^GET \/a\/b\?q=1 HTTP\/1\.1\r\n/);
  expect(request).toMatch(/^host: 127\.0\.0\.1:\d+\r$/im);
  expect(request).toMatch(/^accept: \*\/\*\r$/im);
  expect(request).toMatch(/^user-agent: vedette/im);
  expect(request).toMatch(/^accept-encoding: gzip, deflate, br/im);
  expect(request).toMatch(/^connection: close\r$/im);
});

test("the check's own headers, Host among them, and its body are sent as they are", async () => {
  const server = await rawServer(answering(response('201 Created')));
  const { response: got } = await probe(server.url(), {
    request: {
      method: 'POST',
      bodyType: 'JSON',
      body: '{"größe":1}',
      headers: [
        { key: 'Host', value: 'virtual.example' },
        { key: 'User-Agent', value: 'mine' },
      ],
    },
  });
  expect(got?.status).toBe(201);
  const [request = ''] = server.requests;
  expect(request).toMatch(/^host: virtual\.example\r$/im);
  expect(request).toMatch(/^user-agent: mine\r$/im);
  expect(Buffer.from(request.split('\r\n\r\n')[1] ?? '', 'latin1').toString()).toBe('{"größe":1}');
});

test('user information in the URL becomes basic auth and is shown nowhere', async () => {
  const server = await rawServer(answering(response('200 OK')));
  const context = makeContext();
  const url = server.url().replace('http://', 'http://ann:s3same@');
  const outcome = await probe(url, { context });
  expect(server.requests[0]).toContain(Buffer.from('ann:s3same').toString('base64'));
  expect(JSON.stringify([outcome, logText(context)])).not.toContain('s3same');
});

test.each([
  ['204 No Content', 'GET'],
  ['304 Not Modified', 'GET'],
  ['200 OK', 'HEAD'],
])('%s to a %s has no body, whatever length it announces', async (status, method) => {
  // The connection stays open: the client must know that no 500 bytes follow.
  const server = await rawServer(async (peer) => {
    await peer.request();
    await peer.send(`HTTP/1.1 ${status}\r\nContent-Length: 500\r\nContent-Encoding: gzip\r\n\r\n`);
    await peer.closed;
  });
  const { response: got, failure } = await probe(server.url(), { request: { method } });
  expect(failure).toBeNull();
  expect(got).toMatchObject({ status: Number.parseInt(status, 10), body: '', bodyBytes: 0 });
});

test.each([
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'],
  ['several', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n'],
])('interim responses (%s) are not the answer', async (_name, interim) => {
  const whole = `${interim}${response('200 OK', 'done').toString()}`;
  const inOne = await rawServer(answering(whole));
  expect((await probe(inOne.url())).response).toMatchObject({ status: 200, body: 'done' });

  const byteByByte = await rawServer(answering(...whole));
  expect((await probe(byteByByte.url())).response).toMatchObject({ status: 200, body: 'done' });
});

test('HTTP/1.0, whose body ends with the connection, is distinguished from 1.1', async () => {
  const server = await rawServer(answering('HTTP/1.0 200 OK\r\nX: 1\r\n\r\nuntil', ' the end'));
  const { response: got, failure } = await probe(server.url());
  expect(failure).toBeNull();
  expect(got).toMatchObject({ status: 200, httpVersion: '1.0', body: 'until the end' });
});

test('a response before the request body is read is accepted', async () => {
  const server = await rawServer(async (peer) => {
    peer.socket.pause();
    await peer.send(response('413 Content Too Large', 'no'));
    await peer.closed;
  });
  const { response: got } = await probe(server.url(), {
    request: { method: 'POST', bodyType: 'RAW', body: 'x'.repeat(900_000) },
  });
  expect(got).toMatchObject({ status: 413, body: 'no' });
});

test('IPv6 literals are connected to and named in Host with brackets', async () => {
  const server = await rawServer(answering(response('200 OK')), '::1');
  const { response: got } = await probe(server.url(), { request: { ipFamily: 'IPv6' } });
  expect(got).toMatchObject({ ip: '::1', ipFamily: 'IPv6', url: server.url() });
  expect(server.requests[0]).toContain(`host: [::1]:${server.port}\r\n`);
  expect((await probe(server.url())).response?.status).toBe(200);
});

test('a real server with keep-alive and chunks is left with no connection', async () => {
  const server = createServer((_request, reply) => {
    reply.write('one ');
    reply.end('two');
  });
  onTestFinished(() => void server.close());
  const port = await listen(server);
  const gone = once(server, 'connection').then(([socket]) => once(socket, 'close'));
  const { response: got } = await probe(`http://127.0.0.1:${port}/`);
  expect(got?.body).toBe('one two');
  await gone;
});

test("headers that are the connection's own are left out, and the log says so", async () => {
  const server = await rawServer(answering(response('200 OK')));
  const context = makeContext();
  const request = { headers: [{ key: 'Transfer-Encoding', value: 'chunked' }] };
  const { failure } = await probe(server.url(), { request, context });
  expect(failure).toBeNull();
  expect(preparedRequest(server.url(), request).notes.join()).toContain('Transfer-Encoding');
  expect(logText(context)).toContain('Transfer-Encoding');
});

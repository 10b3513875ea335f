import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import {
  type ProbeOptions,
  probe as probeWith,
} from '../../../../support/servers/http-requests.ts';
import { http2Server, httpsServer } from '../../../../support/servers/http2/servers.ts';

let identity: Identity;
beforeAll(async () => {
  identity = await createSelfSigned({ names: ['localhost'] });
});

function probe(url: string, { request = {}, ...options }: ProbeOptions = {}) {
  return probeWith(url, { ...options, request: { ...request, skipSSL: true } });
}

describe('a whole response', () => {
  test('HTTP/2 is used if the server offers it', async () => {
    const server = await http2Server(
      identity,
      (stream) => {
        stream.respond({ ':status': 200, 'x-twice': ['a', 'b'], 'set-cookie': ['c=1'] });
        stream.end('over two');
      },
      { allowHTTP1: true },
    );
    const { response: got, failure, tls } = await probe(server.url('/p?q=1'));
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: 200, httpVersion: '2', body: 'over two', statusText: '' });
    expect(got?.headers).toMatchObject({ 'x-twice': 'a, b', 'set-cookie': ['c=1'] });
    expect(Object.keys(got?.headers ?? {}).join()).not.toContain(':');
    expect(tls?.alpnProtocol).toBe('h2');
    expect(server.requests[0]).toMatchObject({
      ':method': 'GET',
      ':path': '/p?q=1',
      ':authority': `localhost:${server.port}`,
    });
    await server.idle();
  });

  test('HTTP/1.1 is used if the server does not offer HTTP/2', async () => {
    const server = await httpsServer(identity, () => 'over one');
    const { response: got, tls } = await probe(server.url());
    expect(got).toMatchObject({ status: 200, httpVersion: '1.1', body: 'over one' });
    expect(tls?.alpnProtocol).toBe('http/1.1');
    await server.idle();
  });

  test('method, body, Host, cookies and repeated headers are sent', async () => {
    const server = await http2Server(identity, (stream) => {
      stream.respond({ ':status': 201 });
      stream.pipe(stream);
    });
    const { response: got } = await probe(server.url(), {
      request: {
        method: 'POST',
        bodyType: 'RAW',
        body: 'x'.repeat(500_000),
        headers: [
          { key: 'Host', value: 'virtual.example' },
          { key: 'Cookie', value: 'a=1' },
          { key: 'cookie', value: 'b=2' },
          { key: 'X-A', value: '1' },
          { key: 'x-a', value: '2' },
          { key: 'TE', value: 'gzip' },
        ],
      },
    });
    expect(got).toMatchObject({ status: 201, bodyBytes: 500_000 });
    expect(server.requests[0]).toMatchObject({
      ':method': 'POST',
      ':authority': 'virtual.example',
      cookie: 'a=1; b=2',
      'x-a': '1, 2',
      'content-length': '500000',
    });
  });

  test('interim responses, HEAD, 204 and compressed bodies are as over HTTP/1.1', async () => {
    const server = await http2Server(identity, (stream, headers) => {
      if (headers[':path'] === '/hints') stream.additionalHeaders({ ':status': 103 });
      if (headers[':path'] === '/none') stream.respond({ ':status': 204 }, { endStream: true });
      else {
        const body = gzipSync('packed');
        stream.respond({
          ':status': 200,
          'content-encoding': 'gzip',
          'content-length': body.length,
        });
        stream.end(headers[':method'] === 'HEAD' ? undefined : body);
      }
    });
    expect((await probe(server.url('/hints'))).response).toMatchObject({ body: 'packed' });
    const none = await probe(server.url('/none'));
    expect(none).toMatchObject({ failure: null, response: { status: 204, bodyBytes: 0 } });
    const head = await probe(server.url('/'), { request: { method: 'HEAD' } });
    expect(head).toMatchObject({ failure: null, response: { status: 200, bodyBytes: 0 } });
  });

  test('redirects are followed over HTTP/2', async () => {
    const server = await http2Server(identity, (stream, headers) => {
      if (headers[':path'] === '/') stream.respond({ ':status': 302, location: '/next' });
      else stream.respond({ ':status': 200 });
      stream.end();
    });
    const { response: got } = await probe(server.url());
    expect(got).toMatchObject({ status: 200, url: server.url('/next') });
  });
});

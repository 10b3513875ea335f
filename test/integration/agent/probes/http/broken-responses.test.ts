import { describe, expect, test } from 'vitest';
import { probe } from '../../../../support/servers/http-requests.ts';
import {
  answering,
  type Peer,
  rawServer,
  response,
} from '../../../../support/servers/http-servers.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Sends the parts and resets the connection when the client has them. */
function resetAfter(...parts: readonly string[]): (peer: Peer) => Promise<void> {
  return async (peer) => {
    await peer.request();
    await peer.send(...parts);
    peer.reset();
  };
}

describe('no response', () => {
  test.each([
    ['closed in good order', 'CONNECTION_CLOSED', answering()],
    ['closed inside the status line', 'CONNECTION_CLOSED', answering('HTTP/1')],
    ['closed inside the headers', 'CONNECTION_CLOSED', answering('HTTP/1.1 200 OK\r\nX: 1\r\n')],
    [
      'closed inside the headers, behind the length',
      'CONNECTION_CLOSED',
      answering('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: 1\r\n'),
    ],
    ['closed after an interim response', 'CONNECTION_CLOSED', answering('HTTP/1.1 103 E\r\n\r\n')],
    ['reset', 'CONNECTION_RESET', resetAfter()],
    ['another protocol', 'PROTOCOL_ERROR', answering('SSH-2.0-OpenSSH_9.6\r\n')],
    ['garbage', 'PROTOCOL_ERROR', answering('\x00\x01\x02garbage garbage garbage')],
    ['a header without a name', 'PROTOCOL_ERROR', answering('HTTP/1.1 200 OK\r\n: x\r\n\r\n')],
    [
      'two lengths',
      'PROTOCOL_ERROR',
      answering(HEAD.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\n')),
    ],
    [
      'an upgrade that was not requested',
      'PROTOCOL_ERROR',
      answering('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    [
      'a reason phrase without end',
      'HEADERS_TOO_LARGE',
      answering(
        `HTTP/1.1 200 ${'a'.repeat(30_000)}`,
        ...new Array<string>(80).fill('b'.repeat(1_000)),
      ),
    ],
    ['a status that is none', 'PROTOCOL_ERROR', answering(response('099 Odd', 'body'))],
    ['status 000', 'PROTOCOL_ERROR', answering(response('000 Odd', 'body'))],
  ])('%s is %s', async (_name, code, script) => {
    const server = await rawServer(script);
    const outcome = await probe(server.url('/x?token=1'));
    expect(outcome.failure?.code).toBe(code);
    expect(outcome.failure?.message).toContain(`GET ${server.url('/x')}`);
    expect(outcome.failure?.message).toMatch(/\(after [\d.]+ ms\)$/);
    expect(outcome).toMatchObject({ response: null, body: null });
    expect(outcome.timings).toMatchObject({
      response: expect.toSatisfy(isNullOrNumber),
      end: null,
    });
    expect(server.requests).toHaveLength(1);
    await server.idle();
  });

  test.each([
    ['SSH-2.0-OpenSSH_9.6\r\n', 'not HTTP: it begins with "SSH-2.0-OpenSSH_9.6\\r\\n"'],
    ['HTTP/9.9 200 OK\r\n\r\n', '(Invalid HTTP version)'],
    ['RTSP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', 'begins with "RTSP/1.0 200 OK'],
    ['HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n', '(Invalid header token)'],
    [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      "Transfer-Encoding can't be present with Content-Length",
    ],
    ['HTTP/1.1 099 Odd\r\n\r\n', 'a status below 200'],
  ])('the message about %j names what is wrong', async (text, words) => {
    const server = await rawServer(answering(text));
    expect((await probe(server.url())).failure?.message).toContain(words);
  });

  test('a server that speaks first, before the request, breaks the protocol', async () => {
    const server = await rawServer(async (peer) => {
      await peer.send('220 mail.example ESMTP\r\n');
      await peer.closed;
    });
    expect((await probe(server.url())).failure?.code).toBe('PROTOCOL_ERROR');
    await server.idle();
  });

  test('a server that closes at once is closed, and not tried a second time', async () => {
    let connections = 0;
    const server = await rawServer((peer) => {
      connections += 1;
      peer.close();
    });
    expect((await probe(server.url())).failure?.code).toMatch(/^CONNECTION_(CLOSED|RESET)$/);
    await server.idle();
    expect(connections).toBe(1);
  });

  test.each([
    ['one header', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`],
    ['many headers', `HTTP/1.1 200 OK\r\n${'X-Header: 0123456789\r\n'.repeat(5000)}\r\n`],
    ['interim responses', `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`],
  ])('%s over 64 KiB are HEADERS_TOO_LARGE', async (_name, text) => {
    const server = await rawServer(answering(text));
    const { failure, response: got } = await probe(server.url());
    expect(failure?.code).toBe('HEADERS_TOO_LARGE');
    expect(got).toBeNull();
    await server.idle();
  });

  test('60 KB of headers are accepted', async () => {
    const server = await rawServer(answering(response('200 OK', 'x', `X: ${'x'.repeat(60_000)}`)));
    expect((await probe(server.url())).failure).toBeNull();
  });
});

describe('a response that breaks off has what arrived', () => {
  test.each([
    ['reset inside its length', 'CONNECTION_RESET', resetAfter(HEAD, 'four')],
    ['reset inside a chunk', 'CONNECTION_RESET', resetAfter(CHUNKED, 'a\r\nfour')],
    [
      'reset where the end of the connection ends it',
      'CONNECTION_RESET',
      resetAfter('HTTP/1.1 200 OK\r\n\r\n', 'four'),
    ],
    ['closed inside its length', 'BODY_TRUNCATED', answering(HEAD, 'four')],
    ['closed inside a chunk', 'BODY_TRUNCATED', answering(CHUNKED, 'a\r\nfour')],
    ['closed before the last chunk', 'BODY_TRUNCATED', answering(CHUNKED, '4\r\nfour\r\n')],
    ['a chunk size that is none', 'PROTOCOL_ERROR', answering(CHUNKED, '4\r\nfour\r\nzz\r\n')],
  ])('%s: %s', async (_name, code, script) => {
    const server = await rawServer(script);
    const outcome = await probe(server.url());
    expect(outcome.failure?.code).toBe(code);
    expect(outcome.timings.end).toBeNull();
    expect(outcome.response).toMatchObject({ status: 200, body: 'four', bodyBytes: 4 });
    await server.idle();
  });

  test('bytes after a complete response are ignored', async () => {
    const server = await rawServer(answering(`${HEAD}0123456789 and more than that\r\n\r\n`));
    const { failure, response: got } = await probe(server.url());
    expect(failure).toBeNull();
    expect(got).toMatchObject({ status: 200, body: '0123456789', bodyBytes: 10 });
    await server.idle();
  });
});

function isNullOrNumber(value: unknown): boolean {
  return value === null || typeof value === 'number';
}

import { describe, expect, test } from 'vitest';
import { isNetworkError } from '../../../../../src/agent/probes/probe.ts';
import { logText, makeContext } from '../../../../support/agent/probe-context.ts';
import { eventually } from '../../../../support/eventually.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { type Peer, rawServer, response } from '../../../../support/servers/http-servers.ts';

const URL_BEHIND = 'https://good.test:1/';

/** A proxy that answers the first request with these bytes, and then does what `after` says. */
async function answeringProxy(
  bytes: string | Uint8Array,
  after: (peer: Peer) => void = (peer) => peer.close(),
) {
  return await rawServer(async (peer) => {
    await peer.request();
    if (bytes.length > 0) await peer.send(bytes);
    after(peer);
  });
}

describe('what a proxy may answer to CONNECT', () => {
  test.each([
    [
      '403',
      'HTTP/1.1 403 Access violation\r\n\r\n',
      /answered 403 \(Access violation\) to CONNECT/,
    ],
    ['403 to TLS on another port', 'HTTP/1.0 403\r\nA: b\r\n\r\nbody', /answered 403 to CONNECT/],
    ['502', 'HTTP/1.1 502 Bad gateway\r\n\r\n', /answered 502 .*it could not reach the target/],
    [
      'a redirect',
      'HTTP/1.1 302 Found\r\nLocation: http://x.test\r\n\r\n',
      /answered 302 \(Found\)/,
    ],
    ['101', 'HTTP/1.1 101 Switching\r\n\r\n', /answered 101/],
    [
      'a line end in the reason',
      'HTTP/1.1 403 a\x00\x1b[2J\x85b\r\n\r\n',
      /403 \(a \[2J b\) to CONNECT/,
    ],
    [
      'a very long reason',
      `HTTP/1.1 403 ${'x'.repeat(9000)}\r\n\r\n`,
      /403 \(x{100}…\) to CONNECT/,
    ],
    [
      'interim responses first',
      `${'HTTP/1.1 100 Wait\r\n\r\n'.repeat(3)}HTTP/1.1 403 No\r\n\r\n`,
      /403/,
    ],
  ])('a refusal is PROXY_REFUSED: %s', async (_name, bytes, message) => {
    const proxy = await answeringProxy(bytes);
    const outcome = await probe(URL_BEHIND, { proxyUrl: proxy.url() });
    expect(outcome.failure).toMatchObject({
      code: 'PROXY_REFUSED',
      message: expect.stringMatching(message),
    });
    expect(outcome.failure?.message).not.toMatch(/\p{Cc}/u);
    expect(isNetworkError(outcome)).toBe(true);
    await proxy.idle();
  });

  test.each([
    ['nothing, and closes', '', /closed the connection without an answer/],
    [
      'half a head, and closes',
      'HTTP/1.1 200 OK\r\nA: ',
      /closed the connection without an answer/,
    ],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /the server there is not an HTTP proxy/],
    ['a status that is none', 'HTTP/1.1 twohundred\r\n\r\n', /not an HTTP proxy/],
    ['a TLS alert', Buffer.from([21, 3, 3, 0, 2, 2, 50]), /its URL may have to begin with https/],
    ['a head without an end', `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(20_000)}`, /longer than 16 KiB/],
    [
      'interim responses without an end',
      'HTTP/1.1 100 Wait\r\n\r\n'.repeat(2000),
      /longer than 16 KiB/,
    ],
  ])('no answer is PROXY_UNREACHABLE: %s', async (_name, bytes, message) => {
    const proxy = await answeringProxy(bytes);
    const { failure } = await probe(URL_BEHIND, { proxyUrl: proxy.url() });
    expect(failure).toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: expect.stringMatching(message),
    });
    await proxy.idle();
  });

  test('a reset is PROXY_UNREACHABLE', async () => {
    const proxy = await answeringProxy('', (peer) => peer.reset());
    const { failure } = await probe(URL_BEHIND, { proxyUrl: proxy.url() });
    expect(failure).toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: expect.stringMatching(/reset the connection/),
    });
  });

  test('an answer byte by byte, of 204 and with a content that it cannot have', async () => {
    const head = 'HTTP/1.1 204 Fine\r\nContent-Length: 1000\r\n\r\n';
    const proxy = await rawServer(async (peer) => {
      await peer.request();
      for (const byte of head) await peer.send(byte);
      // The tunnel is open: the first bytes are a ClientHello.
      peer.socket.once('data', () => peer.reset());
    });
    const { failure } = await probe(URL_BEHIND, { proxyUrl: proxy.url() });
    expect(failure?.code).toBe('TLS_RESET');
    await proxy.idle();
  });

  test("bytes behind the answer are the target's", async () => {
    const proxy = await answeringProxy('HTTP/1.1 200 OK\r\n\r\n220 mail.test ESMTP\r\n', () => {});
    const { failure } = await probe(URL_BEHIND, { proxyUrl: proxy.url() });
    expect(failure).toMatchObject({
      code: 'TLS_HANDSHAKE_FAILED',
      message: expect.stringMatching(/good\.test:1 through the proxy .* does not speak TLS/),
    });
    await proxy.idle();
  });
});

test('silence ends with the attempt, as CONNECT_TIMEOUT, and its time is that of connecting', async () => {
  const proxy = await rawServer(() => {});
  const outcome = await probe(URL_BEHIND, {
    context: makeContext({ deadlineInMs: 150 }),
    proxyUrl: proxy.url(),
  });
  expect(outcome.failure).toMatchObject({
    code: 'CONNECT_TIMEOUT',
    message: expect.stringMatching(/did not answer within .* whether it connects to good\.test:1/),
  });
  expect(outcome.timingPhases.tcp).toBeGreaterThan(100);
  await proxy.idle();
});

test.each([URL_BEHIND, 'http://good.test:1/'])(
  'a run that is cut short leaves no connection: %s',
  async (url) => {
    const proxy = await rawServer(() => {});
    const ended = new AbortController();
    const outcome = probe(url, {
      context: makeContext({ signal: ended.signal }),
      proxyUrl: proxy.url(),
    });
    await eventually(() => proxy.open === 1);
    ended.abort();
    expect((await outcome).failure?.code).toBe('CANCELLED');
    await proxy.idle();
  },
);

test('a 407 whose body never ends is complete with its head', async () => {
  const proxy = await answeringProxy('HTTP/1.1 407 No\r\nContent-Length: 99999\r\n\r\nx', () => {});
  const context = makeContext();
  const outcome = await probe('http://good.test:1/', { context, proxyUrl: proxy.url() });
  expect(outcome.failure?.code).toBe('PROXY_AUTH_REQUIRED');
  // It did not wait for the rest until the deadline.
  expect(context.clock.monotonicMs()).toBeLessThan(context.deadlineMs);
  expect(outcome.response).toBeNull();
  expect(logText(context)).toContain('connecting through the proxy');
  await proxy.idle();
});

test('garbage as the answer to a forwarded request is treated as from a target', async () => {
  const proxy = await answeringProxy(response('200 OK', 'x').subarray(5));
  const { failure } = await probe('http://good.test:1/', { proxyUrl: proxy.url() });
  expect(failure?.code).toBe('PROTOCOL_ERROR');
});

describe('a proxy that answers 401 to credentials that it does not take', () => {
  test('to CONNECT: PROXY_AUTH_REQUIRED', async () => {
    const proxy = await answeringProxy('HTTP/1.0 401 Unauthorized\r\n\r\n');
    const proxyUrl = proxy.url().replace('//', '//ann:wrong@');
    const { failure } = await probe(URL_BEHIND, { proxyUrl });
    expect(failure).toMatchObject({
      code: 'PROXY_AUTH_REQUIRED',
      message: expect.stringMatching(/401 \(Unauthorized\); it rejected the user/),
    });
  });

  test("to a forwarded request: an answer like the target's, and the job log says so", async () => {
    const proxy = await answeringProxy(response('401 Unauthorized'));
    const proxyUrl = proxy.url().replace('//', '//ann:wrong@');
    const context = makeContext();
    const { response: got } = await probe('http://good.test:1/', { context, proxyUrl });
    expect(got?.status).toBe(401);
    expect(logText(context)).toContain("the 401 may be the proxy's own");
  });
});

import { constants } from 'node:http2';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { createSelfSigned, type Identity } from '../../../../support/servers/certificates.ts';
import {
  type ProbeOptions,
  probe as probeWith,
} from '../../../../support/servers/http-requests.ts';
import {
  code32,
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headerBlock,
  SETTINGS_ACK,
} from '../../../../support/servers/http2/frames.ts';
import { type RawHttp2Peer, rawHttp2Server } from '../../../../support/servers/http2/raw-server.ts';
import { http2Server } from '../../../../support/servers/http2/servers.ts';

let identity: Identity;
beforeAll(async () => {
  identity = await createSelfSigned({ names: ['localhost'] });
});

function probe(url: string, { request = {}, ...options }: ProbeOptions = {}) {
  return probeWith(url, { ...options, request: { ...request, skipSSL: true } });
}

describe('what goes wrong', () => {
  const RESPONSE = frame(FRAME.headers, END_HEADERS, headerBlock());
  const ACK = frame(FRAME.settings, SETTINGS_ACK, Buffer.alloc(0), 0);
  const PART = frame(FRAME.data, 0, Buffer.from('part'));
  const reset = (code: number): Buffer => frame(FRAME.resetStream, 0, code32(code));
  const goaway = (code: number, last = 1): Buffer => frame(FRAME.goaway, 0, code32(last, code), 0);

  function sending(...frames: readonly Buffer[]): (peer: RawHttp2Peer) => Promise<void> {
    return async (peer) => {
      await peer.send(...frames);
      await peer.closed;
    };
  }

  function closingAfter(...frames: readonly Buffer[]): (peer: RawHttp2Peer) => Promise<void> {
    return async (peer) => {
      await peer.send(...frames);
      peer.close();
    };
  }

  test.each([
    ['a reset for REFUSED_STREAM', 'CONNECTION_RESET', sending(reset(7))],
    ['a reset for CANCEL', 'CONNECTION_RESET', sending(reset(8))],
    ['a reset for INTERNAL_ERROR', 'CONNECTION_RESET', sending(reset(2))],
    ['a reset for PROTOCOL_ERROR', 'PROTOCOL_ERROR', sending(reset(1))],
    ['a reset without an error', 'CONNECTION_CLOSED', sending(reset(0))],
    ['GOAWAY with an error', 'CONNECTION_CLOSED', sending(goaway(2))],
    ['GOAWAY that leaves the request out', 'CONNECTION_CLOSED', sending(goaway(0, 0))],
    ['a close', 'CONNECTION_CLOSED', closingAfter()],
    ['a header that HTTP/2 forbids', 'PROTOCOL_ERROR', sending(forbidden())],
    ['a status that is none', 'PROTOCOL_ERROR', sending(oddStatus())],
    ['headers over 64 KiB', 'HEADERS_TOO_LARGE', sending(...hugeHeaders())],
    ['the same, settings in force', 'HEADERS_TOO_LARGE', sending(ACK, ...hugeHeaders())],
  ])('%s before a response is %s', async (_name, code, script) => {
    const { response: got, failure } = await probe(await rawHttp2Server(identity, script));
    expect(failure?.code).toBe(code);
    expect(got).toBeNull();
  });

  test('HTTP/1.1 after an agreement on HTTP/2 is no response', async () => {
    const script = closingAfter(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { failure, response: got } = await probe(await rawHttp2Server(identity, script));
    // Node 20 reports only that such bytes end the connection.
    expect(failure?.code).toMatch(/^(PROTOCOL_ERROR|CONNECTION_CLOSED)$/);
    expect(got).toBeNull();
  });

  test('a server that requires HTTP/1.1 gets the request again over it, once', async () => {
    let requests = 0;
    const url = await rawHttp2Server(identity, async (peer) => {
      requests += 1;
      await peer.send(reset(13));
    });
    const refused = await probe(url);
    expect(refused.failure?.code).toMatch(/^TLS_|^CONNECTION_RESET$/);
    expect(requests).toBe(1);

    const server = await http2Server(
      identity,
      (stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED),
      { allowHTTP1: true },
      'over one',
    );
    const outcome = await probe(server.url());
    expect(outcome).toMatchObject({ failure: null, response: { status: 200, httpVersion: '1.1' } });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ['a reset for CANCEL', 'CONNECTION_RESET', sending(RESPONSE, PART, reset(8))],
    ['a reset for INTERNAL_ERROR', 'CONNECTION_RESET', sending(RESPONSE, PART, reset(2))],
    ['GOAWAY with an error', 'BODY_TRUNCATED', sending(RESPONSE, PART, goaway(2))],
    ['a close', 'BODY_TRUNCATED', closingAfter(RESPONSE, PART)],
    ['an end before the length', 'BODY_TRUNCATED', sending(announcing(100), PART, ended())],
    [
      'a reset without error before the length',
      'BODY_TRUNCATED',
      sending(announcing(100), PART, reset(0)),
    ],
  ])('%s inside the body is %s, with what came', async (_name, code, script) => {
    const { response: got, failure } = await probe(await rawHttp2Server(identity, script));
    expect(failure?.code).toBe(code);
    expect(got).toMatchObject({ status: 200, body: 'part' });
  });

  test('GOAWAY without an error does not affect the response in progress', async () => {
    const url = await rawHttp2Server(identity, sending(RESPONSE, goaway(0), PART, ended()));
    expect(await probe(url)).toMatchObject({ failure: null, response: { body: 'part' } });
  });

  test.each([
    ['a PING of seven octets', frame(6, 0, Buffer.alloc(7), 0)],
    ['a GOAWAY of four octets', frame(FRAME.goaway, 0, code32(0), 0)],
  ])('%s right behind a whole response ends nothing but the connection', async (_name, broken) => {
    const url = await rawHttp2Server(identity, sending(RESPONSE, PART, ended(), broken));
    // Several at once, so that some are read when all of it has arrived.
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => probe(url)));
    for (const { response: got, failure } of outcomes) {
      expect(failure?.code ?? 'PROTOCOL_ERROR').toBe('PROTOCOL_ERROR');
      expect(got).toMatchObject({ status: 200, body: 'part' });
    }
  });

  function announcing(length: number): Buffer {
    const block = headerBlock({ 'content-length': String(length) });
    return frame(FRAME.headers, END_HEADERS, block);
  }

  function ended(): Buffer {
    return frame(FRAME.data, END_STREAM, Buffer.alloc(0));
  }

  function forbidden(): Buffer {
    return frame(FRAME.headers, END_HEADERS, headerBlock({ connection: 'close' }));
  }

  function oddStatus(): Buffer {
    // Without the block's first byte, which says 200.
    const block = headerBlock({ ':status': '099' }).subarray(1);
    return frame(FRAME.headers, END_HEADERS | END_STREAM, block);
  }

  function hugeHeaders(): Buffer[] {
    const fields = Array.from({ length: 70 }, (_, n) => [`x-${n}`, 'x'.repeat(1000)]);
    const block = headerBlock(Object.fromEntries(fields));
    const cut = 16_000;
    const frames = [frame(FRAME.headers, 0, block.subarray(0, cut))];
    for (let at = cut; at < block.length; at += cut) {
      const isLast = at + cut >= block.length;
      const flags = isLast ? END_HEADERS : 0;
      frames.push(frame(FRAME.continuation, flags, block.subarray(at, at + cut)));
    }
    return frames;
  }

  test('no response by the deadline is RESPONSE_TIMEOUT, and the connection is closed', async () => {
    const server = await http2Server(identity, () => {});
    const outcome = await probe(server.url(), { context: makeContext({ deadlineInMs: 300 }) });
    expect(outcome.failure?.code).toBe('RESPONSE_TIMEOUT');
    await server.idle();
  });

  test('a cancelled run ends at once and leaves nothing open', async () => {
    const controller = new AbortController();
    const server = await http2Server(identity, () => controller.abort());
    const context = makeContext({ signal: controller.signal });
    expect((await probe(server.url(), { context })).failure?.code).toBe('CANCELLED');
    await server.idle();
  });
});

import { expect, test } from 'vitest';
import { makeContext } from '../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { type Peer, rawServer } from '../../../../support/servers/http-servers.ts';
import { WatchedClock } from '../../../../support/watched-clock.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
const LIMIT_MS = 30_000;

test('no headers by the deadline are RESPONSE_TIMEOUT, with the time in the wait', async () => {
  const clock = new FakeClock();
  const server = await rawServer(async (peer) => {
    await peer.request();
    await clock.advance(LIMIT_MS);
  });
  const context = makeContext({ clock, deadlineInMs: LIMIT_MS });
  const outcome = await probe(server.url(), { context });
  expect(outcome.failure?.code).toBe('RESPONSE_TIMEOUT');
  expect(outcome.failure?.message).toContain('(after 30000 ms)');
  expect(outcome.response).toBeNull();
  expect(outcome.timingPhases).toMatchObject({
    firstByte: LIMIT_MS,
    download: 0,
    total: LIMIT_MS,
  });
  expect(outcome.timings).toMatchObject({ connect: 0, response: null, end: null });
  expect(clock.pendingTimers).toBe(0);
  await server.idle();
});

test('headers that arrive byte by byte do not extend the deadline', async () => {
  const clock = new FakeClock();
  const server = await rawServer(async (peer) => {
    await peer.request();
    await drip(clock, HEAD)(peer);
  });
  const context = makeContext({ clock, deadlineInMs: LIMIT_MS });
  const outcome = await probe(server.url(), { context });
  expect(outcome.failure?.code).toBe('RESPONSE_TIMEOUT');
  expect(outcome.timingPhases).toMatchObject({ firstByte: LIMIT_MS, download: 0 });
  await server.idle();
});

test('an incomplete body at the deadline is BODY_TIMEOUT, with the part that arrived', async () => {
  const clock = new WatchedClock();
  const server = await rawServer(async (peer) => {
    await peer.request();
    await clock.advance(1000);
    const firstByte = clock.look();
    await peer.send(HEAD.replace('10', '10000'), '01234');
    await firstByte;
    await drip(clock, 'x'.repeat(9000))(peer);
  });
  const context = makeContext({ clock, deadlineInMs: LIMIT_MS });
  const outcome = await probe(server.url(), { context });
  expect(outcome.failure?.code).toBe('BODY_TIMEOUT');
  expect(outcome.response?.status).toBe(200);
  expect(outcome.response?.body).toMatch(/^01234x*$/);
  expect(outcome.timingPhases).toMatchObject({ firstByte: 1000, download: 29_000 });
  expect(outcome.timings).toMatchObject({ response: 1000, end: null });
  await server.idle();
});

test('a reset that arrived before a late timer is a reset, not a timeout', async () => {
  const clock = new FakeClock();
  const server = await rawServer(async (peer) => {
    await peer.request();
    peer.reset();
    await clock.stall(LIMIT_MS + 1);
  });
  const context = makeContext({ clock, deadlineInMs: LIMIT_MS });
  expect((await probe(server.url(), { context })).failure?.code).toBe('CONNECTION_RESET');
});

test.each([
  ['before the response', ''],
  ['inside the body', `${HEAD}01234`],
])('a cancelled run ends at once %s and leaves nothing open', async (_name, start) => {
  const controller = new AbortController();
  const server = await rawServer(async (peer) => {
    await peer.request();
    await peer.send(start);
    controller.abort();
    await peer.closed;
  });
  const context = makeContext({ signal: controller.signal });
  expect((await probe(server.url(), { context })).failure?.code).toBe('CANCELLED');
  await server.idle();
});

/** A byte per second, without end: the script stops when the client disconnects. */
function drip(clock: FakeClock, text: string): (peer: Peer) => Promise<void> {
  return async (peer) => {
    for (const byte of text) {
      if (peer.socket.destroyed) return;
      await peer.send(byte);
      await clock.advance(1000);
    }
  };
}

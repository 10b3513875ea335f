import { describe, expect, test } from 'vitest';
import type { HttpOutcome } from '../../../../../src/agent/probes/http/probe.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { sleep } from '../../../../../src/runtime/wait.ts';
import { loopbackResolver, makeContext } from '../../../../support/agent/probe-context.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { WatchedClock } from '../../../../support/watched-clock.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
const LIMIT_MS = 30_000;

function expectPhasesToAddUp({ timingPhases, responseTimeMs }: HttpOutcome): void {
  const { total, ...parts } = timingPhases;
  const sum = Object.values(parts).reduce((left, right) => left + right, 0);
  expect(Math.abs(sum - total)).toBeLessThan(0.01);
  expect(Object.values(timingPhases).every((ms) => ms >= 0)).toBe(true);
  expect(responseTimeMs).toBe(total);
}

describe('on a clock that the test moves', () => {
  test('each phase has the time that passed in it, over all hops', async () => {
    const clock = new WatchedClock();
    const server = await rawServer(async (peer) => {
      const request = await peer.request();
      await clock.advance(100);
      if (request.startsWith('GET /first')) {
        await peer.send(redirectTo(`http://other.test:${server.port}/second`));
        return;
      }
      const firstByte = clock.look();
      await peer.send(HEAD, '01234');
      await firstByte;
      await clock.advance(40);
      await peer.send('56789');
    });
    const resolver = {
      async resolve(...parameters: Parameters<typeof loopbackResolver.resolve>) {
        await clock.advance(7);
        return loopbackResolver.resolve(...parameters);
      },
    };
    const context = makeContext({ clock, resolver, deadlineInMs: LIMIT_MS });
    const outcome = await probe(server.url('/first').replace('127.0.0.1', 'localhost'), {
      context,
    });

    expect(outcome.failure).toBeNull();
    expect(outcome.timingPhases).toEqual({
      wait: 0,
      dns: 14,
      tcp: 0,
      tls: 0,
      firstByte: 200,
      download: 40,
      total: 254,
    });
    expect(outcome.timings).toEqual({
      socket: 107,
      lookup: 114,
      connect: 114,
      secureConnect: null,
      response: 214,
      end: 254,
    });
    expect(outcome.response).toMatchObject({ timings: outcome.timings, body: '0123456789' });
    expect(clock.pendingTimers).toBe(0);
  });

  test('an interim response does not end the wait for the first byte', async () => {
    const clock = new WatchedClock();
    const server = await rawServer(async (peer) => {
      await peer.request();
      const interim = clock.look();
      await peer.send('HTTP/1.1 103 Early Hints\r\n\r\n');
      await interim;
      await clock.advance(300);
      await peer.send(response('200 OK'));
    });
    const { timingPhases } = await probe(server.url(), { context: makeContext({ clock }) });
    expect(timingPhases).toMatchObject({ firstByte: 300, download: 0, total: 300 });
  });
});

describe('on the real clock', () => {
  test("the server's own delay is measured as time to the first byte", async () => {
    const delayMs = 60;
    let heldMs = 0;
    const server = await rawServer(async (peer) => {
      await peer.request();
      const startMs = systemClock.monotonicMs();
      await sleep(systemClock, delayMs, new AbortController().signal);
      heldMs = systemClock.monotonicMs() - startMs;
      await peer.send(response('200 OK', 'late'));
    });
    const beganMs = systemClock.monotonicMs();
    const outcome = await probe(server.url());
    const elapsedMs = systemClock.monotonicMs() - beganMs;
    expect(outcome.timingPhases.firstByte).toBeGreaterThanOrEqual(heldMs);
    expect(outcome.timingPhases.firstByte).toBeLessThan(elapsedMs);
    expectPhasesToAddUp(outcome);
  });

  test('phases add up for refused, broken and redirected attempts as well', async () => {
    const target = await rawServer(answering(response('200 OK', 'x'.repeat(100_000))));
    const broken = await rawServer(answering('garbage'));
    const first = await rawServer(async (peer) => {
      const path = (await peer.request()).split(' ')[1];
      await peer.send(redirectTo((path === '/ok' ? target : broken).url()));
    });
    for (const url of [target.url(), broken.url(), first.url('/ok'), first.url('/broken')]) {
      expectPhasesToAddUp(await probe(url));
    }
    expectPhasesToAddUp(await probe('http://127.0.0.1:1/'));
    expectPhasesToAddUp(await probe('http://nowhere.invalid/'));
  });

  test('a failed attempt reports the phases that it reached', async () => {
    const lost = await probe('http://nowhere.invalid/');
    expect(lost.failure?.code).toBe('DNS_NXDOMAIN');
    expect(lost.timings).toMatchObject({ lookup: null, connect: null, response: null, end: null });
    const refused = await probe('http://127.0.0.1:1/');
    expect(refused.failure?.code).toBe('CONNECT_REFUSED');
    expect(refused.timings).toMatchObject({ lookup: expect.any(Number), connect: null });
    expect(refused.response).toBeNull();
  });
});

function redirectTo(url: string): Buffer {
  return response('302 Found', '', `Location: ${url}`);
}

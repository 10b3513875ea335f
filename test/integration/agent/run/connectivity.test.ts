import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Resolver } from '../../../../src/agent/net/resolver.ts';
import { createConnectivityCheck } from '../../../../src/agent/run/connectivity.ts';
import { loopbackResolver } from '../../../support/agent/probe-context.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

const never = new AbortController().signal;
const open: Server[] = [];

/** A server that counts its connections; `settled` resolves when all of them have ended. */
async function listen(atPort = 0) {
  const server = createServer();
  open.push(server);
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.resume();
  });
  server.listen(atPort, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    port,
    count: () => connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const { port, close } = await listen();
  await close();
  return port;
}

afterEach(async () => {
  // A socket left open would keep its server from closing.
  await Promise.all(
    open.splice(0).map((server) => server.listening && new Promise((done) => server.close(done))),
  );
});

function setUp(targets: readonly (readonly [string, number])[], resolver = loopbackResolver) {
  const clock = new FakeClock();
  const check = createConnectivityCheck({
    targets: targets.map(([hostname, port]) => ({ hostname, port })),
    resolver,
    clock,
  });
  return { clock, check };
}

describe('the connectivity check', () => {
  it('is always online without targets', async () => {
    expect(await setUp([]).check.isOnline(never)).toBe(true);
  });

  it('asks as many targets as there may be without a warning of a leak', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const { port } = await listen();
    const targets = Array.from({ length: 16 }, () => ['127.0.0.1', port] as const);
    expect(await setUp(targets).check.isOnline(never)).toBe(true);
    await settle();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('is online where one of the targets accepts, by name or address', async () => {
    const { port } = await listen();
    const closed = await closedPort();
    const byAddress = setUp([
      ['127.0.0.1', closed],
      ['127.0.0.1', port],
    ]);
    expect(await byAddress.check.isOnline(never)).toBe(true);
    const byName = setUp([
      ['does-not-exist.example', 80],
      ['somewhere.test', port],
    ]);
    expect(await byName.check.isOnline(never)).toBe(true);
    expect(byName.clock.pendingTimers).toBe(0);
  });

  it('is offline where every target refuses or has no address', async () => {
    const { check, clock } = setUp([
      ['127.0.0.1', await closedPort()],
      ['does-not-exist.example', 80],
    ]);
    expect(await check.isOnline(never)).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is offline after 3 s without an answer', async () => {
    const signals: AbortSignal[] = [];
    let asked = (): void => {};
    const underWay = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const deaf: Resolver = {
      resolve: (_hostname, _family, { signal }) => {
        signals.push(signal);
        asked();
        return new Promise(() => {});
      },
    };
    const { check, clock } = setUp([['deaf.test', 80]], deaf);
    let answer: boolean | null = null;
    const answered = check.isOnline(never).then((online) => {
      answer = online;
    });
    await underWay;
    await clock.advance(2_999);
    expect(answer).toBeNull();
    await clock.advance(1);
    await answered;
    expect(answer).toBe(false);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('asks once for all who ask at the same time, and again when the answer is old', async () => {
    const server = await listen();
    const { check, clock } = setUp([['127.0.0.1', server.port]]);
    const answers = await Promise.all([1, 2, 3].map(() => check.isOnline(never)));
    expect(answers).toEqual([true, true, true]);
    await clock.advance(99);
    await server.close();
    expect(await check.isOnline(never)).toBe(true);
    expect(server.count()).toBe(1);
    await clock.advance(1);
    expect(await check.isOnline(never)).toBe(false);
  });

  it('checks again after being offline', async () => {
    const server = await listen();
    await server.close();
    const { check, clock } = setUp([['127.0.0.1', server.port]]);
    expect(await check.isOnline(never)).toBe(false);
    const back = await listen(server.port);
    await clock.advance(1_999);
    expect(await check.isOnline(never)).toBe(false);
    await clock.advance(1);
    expect(await check.isOnline(never)).toBe(true);
    await back.close();
  });

  it('lets one caller abort without ending the check for the others', async () => {
    const { port } = await listen();
    const { resolver, release } = heldResolver();
    const { check } = setUp([['held.test', port]], resolver);
    const leaving = new AbortController();
    const left = check.isOnline(leaving.signal);
    const stayed = check.isOnline(never);
    leaving.abort();
    expect(await left).toBe(true);
    release();
    expect(await stayed).toBe(true);
  });

  it('ends the check when no caller waits for it, and caches nothing', async () => {
    const { port } = await listen();
    const { resolver, release, signals } = heldResolver();
    const { check, clock } = setUp([['held.test', port]], resolver);
    const leaving = new AbortController();
    const left = check.isOnline(leaving.signal);
    leaving.abort();
    expect(await left).toBe(true);
    expect(signals.length).toBeGreaterThan(0);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
    release();
    expect(await check.isOnline(never)).toBe(true);
    expect(await check.isOnline(AbortSignal.abort())).toBe(true);
  });
});

/** Answers like the loopback resolver, but not before it is released. */
function heldResolver() {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const signals: AbortSignal[] = [];
  const resolver: Resolver = {
    async resolve(hostname, family, options) {
      signals.push(options.signal);
      await released;
      return loopbackResolver.resolve(hostname, family, options);
    },
  };
  return { resolver, release: () => release(), signals };
}

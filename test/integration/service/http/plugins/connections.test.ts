import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyPluginAsync } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpLimits } from '../../../../../src/service/http/app.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  openSilent,
  type SilentConnections,
} from '../../../../support/servers/silent-connections.ts';
import { KEYS, type ServiceApp, startServiceApp } from '../../../../support/service/service-app.ts';

const HALF_A_REQUEST = 'GET /v1/held HTTP/1.1\r\nhost: a\r\n';
const A_REQUEST = `${HALF_A_REQUEST}authorization: Bearer ${KEYS.read}\r\n\r\n`;
const PROBES = ['/-/readiness', '/-/liveness', '/health'];

let service: ServiceApp | null = null;
let held = 0;
let release = (): void => {};
const crowds: SilentConnections[] = [];

afterEach(async () => {
  release();
  for (const crowd of crowds.splice(0)) crowd.close();
  await service?.close();
  service = null;
});

/** A route that answers when the test says so. */
function heldRoute(): FastifyPluginAsync {
  held = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return async (app) => {
    app.get('/v1/held', { config: { role: 'read' } }, async () => {
      held += 1;
      await released;
      return {};
    });
  };
}

async function start(
  limits: Partial<HttpLimits> = {},
  options: Parameters<typeof startServiceApp>[1] = {},
): Promise<ServiceApp> {
  service = await startServiceApp([heldRoute()], {
    limits: {
      headersTimeoutMs: 60_000,
      checkingIntervalMs: 60_000,
      max: 20,
      maxPerAddress: 20,
      reserve: 4,
      ...limits,
    },
    ...options,
  });
  return service;
}

async function crowd(count: number, from = '127.0.0.1', bytes = ''): Promise<SilentConnections> {
  const opened = await openSilent(service?.port ?? 0, count, from);
  crowds.push(opened);
  if (bytes !== '') opened.write(bytes);
  return opened;
}

async function connections({ app }: ServiceApp): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

/** The lines of the log at its default level. */
function warnings({ logs }: ServiceApp) {
  return logs.records().filter(({ level }) => level !== 'debug');
}

/** The statuses of the probes, each over a fresh connection. */
async function probe(from: ServiceApp): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const path of PROBES) statuses.push((await from.ask(path, { key: null })).status);
  return statuses;
}

describe('connections that send no whole request', () => {
  it.each([
    ['nothing', ''],
    ['half a request', HALF_A_REQUEST],
  ])(
    'but %s are closed after the time limit of headers, even if they stay half open',
    async (_, bytes) => {
      const clock = new FakeClock();
      const running = await start({ headersTimeoutMs: 50, checkingIntervalMs: 10 }, { clock });
      const silent = await crowd(10, '127.0.0.1', bytes);
      await eventually(() => silent.open() === 0);
      // They were answered; now each is closed.
      await clock.advance(1_000);
      let left = 10;
      while (left > 0) left = await connections(running);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('but bytes that are no HTTP are closed after a second', async () => {
    const clock = new FakeClock();
    const running = await start({}, { clock });
    const silent = await crowd(10, '127.0.0.1', 'no request\r\n\r\n');
    await eventually(() => silent.open() === 0);
    await clock.advance(1_000);
    let left = 10;
    while (left > 0) left = await connections(running);
  });

  it('make way for new ones, the oldest first, and are counted and logged', async () => {
    const clock = new FakeClock();
    const running = await start({}, { clock });
    const silent = await crowd(60, '127.0.0.1', HALF_A_REQUEST);
    expect(await probe(running)).toEqual([200, 200, 200]);
    expect((await running.ask('/openapi.json')).status).toBe(200);
    await eventually(() => silent.open() <= 20);
    const { text: metrics } = await running.ask('/metrics', { key: null });
    expect(metrics).toMatch(/^vedette_service_http_connections_closed_total\{state="idle"\} 4\d$/m);
    expect(metrics).toMatch(/^vedette_service_http_connections (1\d|20)$/m);
    expect(warnings(running)).toMatchObject([{ closed: 1, lastAddress: '127.0.0.1' }]);
    clock.spend(60_000);
    await crowd(40);
    await eventually(() => warnings(running).length === 2);
  });

  it('only take connections from their own address, once they have its share', async () => {
    const running = await start({ maxPerAddress: 10 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (): Promise<Socket> => {
      const sent = request({ host: '127.0.0.1', port: running.port, path: '/health', agent }).end();
      const [response] = await once(sent, 'response');
      await text(response);
      return response.socket;
    };
    const kept = await ask();
    const silent = await crowd(60, '127.0.0.2', HALF_A_REQUEST);
    await eventually(() => silent.open() === 10);
    expect(await ask()).toBe(kept);
    agent.destroy();
  });

  it('of trusted proxies have the connections of all', async () => {
    const config = { rateLimitPerMinute: 600, trustedProxies: ['127.0.0.2/32'] };
    const running = await start({ maxPerAddress: 5 }, { config });
    const ofProxy = await crowd(20, '127.0.0.2', HALF_A_REQUEST);
    await eventually(() => running.app.server.listening && ofProxy.open() === 20);
    const other = await crowd(6, '127.0.0.3', HALF_A_REQUEST);
    await eventually(() => other.open() === 5);
    await eventually(() => ofProxy.open() === 15);
  });
});

describe('where every connection has a request in progress', () => {
  it('probes are answered, other requests get 503, and no request is cut off', async () => {
    const running = await start();
    const busy = await crowd(20, '127.0.0.2', A_REQUEST);
    await eventually(() => held === 20);
    expect(await probe(running)).toEqual([200, 200, 200]);
    for (const path of ['/v1/held', '/openapi.json', '/nothing']) {
      const refused = await running.ask(path);
      expect([refused.status, refused.headers.connection]).toEqual([503, 'close']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect([busy.open(), held]).toEqual([20, 20]);
    expect(warnings(running)).toMatchObject([{ closed: 1 }]);
  });

  it('silent connections do not keep the probes out of the reserve', async () => {
    const running = await start();
    await crowd(20, '127.0.0.2', A_REQUEST);
    await eventually(() => held === 20);
    await crowd(50, '127.0.0.3', HALF_A_REQUEST);
    await crowd(50, '127.0.0.1');
    expect(await probe(running)).toEqual([200, 200, 200]);
  });

  it('and all connections of one address are busy, other addresses are served', async () => {
    const running = await start({ maxPerAddress: 10 });
    await crowd(30, '127.0.0.2', A_REQUEST);
    await eventually(() => held === 10);
    const fromOther = running.ask('/v1/held', { key: KEYS.read });
    await eventually(() => held === 11);
    release();
    expect((await fromOther).status).toBe(200);
    // A connection without a request in progress makes way for another.
    expect((await running.ask('/v1/held', { key: KEYS.read })).status).toBe(200);
  });
});

describe('requests that are sent without waiting for the answers', () => {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  /** A connection that reads nothing by itself. */
  async function pipeline(bytes: string): Promise<Socket> {
    const socket = connect(service?.port ?? 0, '127.0.0.1').on('error', () => {});
    open.push(socket);
    socket.pause();
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  }

  function closed(socket: Socket): Promise<void> {
    return new Promise((resolve) => socket.resume().once('close', () => resolve()));
  }

  it('close their connection past 8 of them, of which one reached the app', async () => {
    const running = await start();
    const socket = await pipeline(A_REQUEST.repeat(5_000));
    await closed(socket);
    expect(held).toBe(1);
    const { status, text: metrics } = await running.ask('/metrics', { key: null });
    expect(status).toBe(200);
    expect(metrics).toContain(
      'vedette_service_http_connections_closed_total{state="pipelining"} 1\n',
    );
    expect(warnings(running)).toMatchObject([
      { closed: 1, lastAddress: '127.0.0.1', msg: expect.stringContaining('turn HTTP pipelining') },
    ]);
  });

  it('close their connection also if each has an Expect header that cannot be met', async () => {
    const running = await start();
    const expecting = A_REQUEST.replace('host: a', 'host: a\r\nexpect: wonders');
    const one = expecting.replace('host: a', 'host: a\r\nconnection: close');
    expect(await running.raw(one)).toMatch(/^HTTP\/1\.1 417 /);
    await closed(await pipeline(expecting.repeat(100)));
    expect(held).toBe(0);
    const { text: metrics } = await running.ask('/metrics', { key: null });
    expect(metrics).toContain('connections_closed_total{state="pipelining"} 1\n');
  });

  it('up to 8 are answered in their order, one after the other', async () => {
    const running = await start();
    const socket = await pipeline(
      `${A_REQUEST.repeat(7)}${A_REQUEST.replace('host: a', 'host: a\r\nconnection: close')}`,
    );
    await eventually(() => held === 1);
    expect((await running.ask('/health', { key: null })).status).toBe(200);
    expect(held).toBe(1);
    release();
    const answers = await text(socket);
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(8);
    expect(held).toBe(8);
  });

  it('use the memory of one answer if the client does not read', async () => {
    let asked = 0;
    const body = 'x'.repeat(64 * 1024 * 1024);
    const large: FastifyPluginAsync = async (app) => {
      app.get('/v1/held', { config: { role: 'read' } }, async (_request, reply) => {
        asked += 1;
        return reply.type('text/plain').send(body);
      });
    };
    service = await startServiceApp([large]);
    const socket = await pipeline(A_REQUEST.repeat(3));
    await once(socket, 'readable');
    expect((await service.ask('/health', { key: null })).status).toBe(200);
    expect(asked).toBe(1);
  });

  it('leave nothing in flight when their connection ends', async () => {
    const running = await start();
    const socket = await pipeline(A_REQUEST.repeat(3));
    await eventually(() => held === 1);
    socket.destroy();
    await eventually(() => running.inFlight.size === 0);
    release();
    expect((await running.ask('/health', { key: null })).status).toBe(200);
    expect(held).toBe(1);
  });

  it('are not assumed of an ordinary client, whose connection stays open for 1,000 requests', async () => {
    const { port } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    for (let n = 0; n < 1_000; n += 1) {
      const sent = request({ host: '127.0.0.1', port, path: '/-/liveness', agent }).end();
      const [response] = await once(sent, 'response');
      expect(await text(response)).toBe('live\n');
      sockets.add(response.socket);
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });
});

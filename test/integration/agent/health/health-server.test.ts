import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type HealthServer,
  type HealthServerOptions,
  startHealthServer,
} from '../../../../src/agent/health/health-server.ts';
import type { HealthStatus } from '../../../../src/agent/health/readiness-and-liveness.ts';
import { createMetrics } from '../../../../src/agent/metrics/metrics.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { openSilent } from '../../../support/servers/silent-connections.ts';

let server: HealthServer | null = null;
let status: HealthStatus;

async function start(options: Partial<HealthServerOptions> = {}): Promise<HealthServer> {
  status = {
    state: 'running',
    checks: 2,
    running: 1,
    waiting: 4,
    queued: 0,
    missedSlots: 3,
    droppedLines: 0,
    spoolDepth: null,
    spoolOldestSeconds: null,
    lastContact: null,
    checkFileUsable: false,
    lastTickMs: null,
  };
  server = await startHealthServer({
    port: 0,
    version: '1.2.3',
    clock: systemClock,
    log: captureLog().log,
    status: () => status,
    metrics: createMetrics({ version: '1.2.3' }),
    ...options,
  });
  return server;
}

afterEach(async () => {
  await server?.close();
  server = null;
});

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function ask(port: number, path: string, method = 'GET', body = ''): Promise<Reply> {
  const sent = request({ host: '127.0.0.1', port, path, method, agent: false });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe('the address of the health port', () => {
  it('is the one of AGENT_HEALTH_HOST alone', async () => {
    const { port } = await start({ host: '127.0.0.2' });
    const sent = request({ host: '127.0.0.2', port, path: '/health', agent: false }).end();
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
    await expect(ask(port, '/health')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is refused by name if the machine does not have it', async () => {
    const refusal = await catchRefusal(start({ host: '192.0.2.1' }));
    expect(refusal).toMatchObject({
      code: 'HEALTH_HOST_FOREIGN',
      message: expect.stringMatching(
        /^this machine has no address 192\.0\.2\.1 \(AGENT_HEALTH_HOST\)/,
      ),
    });
  });
});

/** Sends raw bytes and returns all that comes back until the server closes. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

function catchRefusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('the health endpoints', () => {
  it('return readiness by the current state', async () => {
    const { port } = await start();
    expect((await ask(port, '/-/readiness')).status).toBe(200);
    status = { ...status, state: 'draining' };
    const draining = await ask(port, '/-/readiness');
    expect(draining.status).toBe(503);
    expect(draining.body).toBe(
      'not ready: draining: the agent is stopping and starts no new runs\n',
    );
  });

  it('return liveness by the monotonic clock', async () => {
    const clock = new FakeClock();
    const { port } = await start({ clock });
    status = { ...status, lastTickMs: clock.monotonicMs() };
    expect((await ask(port, '/-/liveness')).status).toBe(200);
    clock.stepWall(3_600_000);
    expect((await ask(port, '/-/liveness')).status).toBe(200);
    await clock.advance(30_001);
    expect((await ask(port, '/-/liveness')).status).toBe(503);
    await clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('show the agent as JSON', async () => {
    const { port } = await start();
    const { status: code, headers, body } = await ask(port, '/health?pretty=1');
    expect(code).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(JSON.parse(body)).toEqual({
      version: '1.2.3',
      state: 'running',
      checks: 2,
      running: 1,
      waiting: 4,
      queued: 0,
      missedSlots: 3,
      droppedLines: 0,
      spoolDepth: null,
      spoolOldestSeconds: null,
      lastContact: null,
      checkFileUsable: false,
    });
  });

  it('return metrics as Prometheus text', async () => {
    const { port } = await start();
    const { headers, body } = await ask(port, '/metrics');
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toContain('vedette_build_info{version="1.2.3"} 1\n');
  });

  it('answer HEAD with the headers of GET and no body', async () => {
    const { port } = await start();
    for (const path of ['/-/readiness', '/-/liveness', '/health', '/metrics']) {
      const { status: code, headers, body } = await ask(port, path, 'HEAD');
      expect({ path, code, body }).toEqual({ path, code: 200, body: '' });
      expect(Number(headers['content-length'])).toBeGreaterThan(0);
    }
  });

  it('list the endpoints for an unknown path', async () => {
    const { port } = await start();
    const missing = await ask(port, '/metrics/');
    expect(missing.status).toBe(404);
    expect(missing.body).toContain('/-/readiness, /-/liveness, /health, /metrics');
    const posted = await ask(port, '/health', 'POST', 'x'.repeat(100_000));
    expect(posted.status).toBe(405);
    expect(posted.headers.allow).toBe('GET, HEAD');
    expect(posted.body).toContain('use GET or HEAD');
  });

  it('accept a request in absolute form', async () => {
    const { port } = await start();
    const reply = await exchange(
      port,
      'GET http://agent:8081/-/readiness HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n',
    );
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answer 500 and log an internal error', async () => {
    const { log, records } = captureLog();
    const { port } = await start({
      log,
      status: () => {
        throw new Error('a bug');
      },
    });
    expect((await ask(port, '/health')).status).toBe(500);
    expect(records()).toMatchObject([{ level: 'error', err: { message: 'a bug' } }]);
    expect((await ask(port, '/metrics')).status).toBe(200);
  });
});

describe('the health server of a starved agent', () => {
  it('answers, however long it takes to make the response', async () => {
    const clock = new FakeClock();
    let asked = (): void => {};
    const rendering = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let render = (_text: string): void => {};
    const metrics = {
      connectionClosed: () => {},
      contentType: 'text/plain',
      exposition: () => {
        asked();
        return new Promise<string>((resolve) => {
          render = resolve;
        });
      },
    };
    const { port } = await start({ clock, metrics });
    const reply = ask(port, '/metrics');
    await rendering;
    await clock.advance(60_000);
    render('up 1\n');
    expect(await reply).toMatchObject({ status: 200, body: 'up 1\n' });
  });
});

it('the health server has /probe only if it is switched on', async () => {
  const { port } = await start();
  const absent = await ask(port, '/probe?target=a');
  expect(absent.status).toBe(404);
  expect(absent.body).not.toContain('/probe');
  await server?.close();

  const probing = await start({
    probe: async ({ query, timeoutSeconds }) => ({
      status: 200,
      contentType: 'text/plain',
      body: JSON.stringify([query.get('target'), query.get('module'), timeoutSeconds]),
    }),
  });
  const path = '/probe?module=http_2xx&target=http%3A%2F%2Fa%2F%3Fb%3Dc';
  const sent = request({
    host: '127.0.0.1',
    port: probing.port,
    path,
    agent: false,
    headers: { 'X-Prometheus-Scrape-Timeout-Seconds': '9.5' },
  });
  sent.end();
  const [response] = await once(sent, 'response');
  expect(JSON.parse(await text(response))).toEqual(['http://a/?b=c', 'http_2xx', '9.5']);
  expect((await ask(probing.port, '/nowhere')).body).toContain(', /probe\n');
});

describe('bad clients of the health server', () => {
  it('get a short answer to bytes that are no HTTP and to endless headers', async () => {
    const { port } = await start();
    expect(await exchange(port, '\0\0\0 nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    const long = `GET /health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}`;
    expect(await exchange(port, long)).toMatch(/^HTTP\/1\.1 431 /);
    expect((await ask(port, '/-/liveness')).status).toBe(200);
  });

  it('do not block a probe of their own address with silent connections', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    const { port } = await start({ metrics });
    const silent = await openSilent(port, 200);
    expect((await ask(port, '/-/liveness')).status).toBe(200);
    await eventually(() => silent.open() <= 64);
    // The client with the most connections gets the answer, and the loss is counted.
    const { body } = await ask(port, '/metrics');
    expect(body).toMatch(/vedette_health_connections_closed_total\{state="idle"\} 1\d\d\n/);
    silent.close();
  });

  it('do not block a probe of another address from several addresses', async () => {
    const { port } = await start();
    const crowds = await Promise.all(
      ['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((from) => openSilent(port, 64, from)),
    );
    expect((await ask(port, '/-/liveness')).status).toBe(200);
    for (const crowd of crowds) crowd.close();
  });

  it('lose only their own idle connections', async () => {
    const { port } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const probe = async (): Promise<Socket> => {
      const sent = request({ host: '127.0.0.1', port, path: '/-/liveness', agent }).end();
      const [response] = await once(sent, 'response');
      await text(response);
      return response.socket;
    };
    const kept = await probe();
    const silent = await openSilent(port, 200, '127.0.0.2');
    expect(await probe()).toBe(kept);
    agent.destroy();
    silent.close();
  });

  it('are closed after thousands of pipelined requests, of which one reached the agent', async () => {
    const real = createMetrics({ version: '1.2.3' });
    let asked = 0;
    const metrics = {
      ...real,
      exposition: () => {
        asked += 1;
        return real.exposition();
      },
    };
    const { port } = await start({ metrics });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5_000));
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect(asked).toBe(1);
    const { body } = await ask(port, '/metrics');
    expect(body).toContain('vedette_health_connections_closed_total{state="pipelining"} 1\n');
  });

  it('do not block a probe with unfinished requests', async () => {
    let asked = 0;
    const metrics = {
      ...createMetrics({ version: '1.2.3' }),
      contentType: 'text/plain',
      exposition: () => {
        asked += 1;
        return new Promise<string>(() => {});
      },
    };
    const { port } = await start({ clock: new FakeClock(), metrics });
    const readers = await openSilent(port, 64);
    readers.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => asked === 64);
    expect((await ask(port, '/-/liveness')).status).toBe(200);
    readers.close();
  });

  it('lose a response that they do not read in time', async () => {
    const clock = new FakeClock();
    const body = 'x'.repeat(64 * 1024 * 1024);
    let asked = (): void => {};
    const rendered = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const metrics = {
      connectionClosed: () => {},
      contentType: 'text/plain',
      exposition: () => {
        asked();
        return Promise.resolve(body);
      },
    };
    const { port } = await start({ clock, metrics });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await rendered;
    await eventually(() => clock.pendingTimers === 1);
    await clock.advance(10_000);
    const received = await text(socket).catch(() => 'reset');
    expect(received.length).toBeLessThan(body.length);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the health port', () => {
  it('is named with its variable and advice where it is in use', async () => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const error = await catchRefusal(start({ port }));
    expect(error).toBeInstanceOf(VedetteError);
    expect(error).toMatchObject({
      kind: 'environment',
      code: 'HEALTH_PORT_TAKEN',
      message: expect.stringMatching(
        new RegExp(
          `^port ${port} \\(AGENT_HEALTH_PORT\\) is already in use: .*0 for any free one$`,
        ),
      ),
    });
    other.close();
  });

  it('is free again after the server is closed, once or twice', async () => {
    const { port, close } = await start();
    await Promise.all([close(), close()]);
    await start({ port });
    expect((await ask(port, '/-/liveness')).status).toBe(200);
  });
});

describe('closing the health server', () => {
  it('ends idle keep-alive connections at once', async () => {
    const clock = new FakeClock();
    const { port, close } = await start({ clock });
    const agent = new Agent({ keepAlive: true });
    const sent = request({ host: '127.0.0.1', port, path: '/health', agent }).end();
    const [response] = await once(sent, 'response');
    await text(response);
    await close();
    expect(clock.pendingTimers).toBe(0);
    agent.destroy();
  });

  it('answers a request in progress and then ends its connection', async () => {
    let render = (_text: string): void => {};
    let asked = (): void => {};
    const inProgress = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const metrics = {
      connectionClosed: () => {},
      contentType: 'text/plain',
      exposition: () => {
        asked();
        return new Promise<string>((resolve) => {
          render = resolve;
        });
      },
    };
    const { port, close } = await start({ clock: new FakeClock(), metrics });
    const reply = exchange(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await inProgress;
    const closed = close();
    const large = 'x'.repeat(10 * 1024 * 1024);
    render(`${large}the last scrape`);
    const received = await reply;
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.length).toBeGreaterThan(large.length);
    expect(received.endsWith('xthe last scrape')).toBe(true);
    await closed;
  });

  it('destroys a hanging connection after a second', async () => {
    const clock = new FakeClock();
    const { port, close } = await start({ clock });
    const socket = connect(port, '127.0.0.1');
    // Once a second connection is answered, the server has seen the first one.
    await once(socket, 'connect');
    await ask(port, '/-/liveness');
    const ended = once(socket.resume(), 'close');
    const closed = close();
    await clock.advance(1_000);
    await closed;
    await ended;
  });
});

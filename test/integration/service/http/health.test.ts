import { once } from 'node:events';
import { connect } from 'node:net';
import type { FastifyPluginAsync } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { closeApp, expectFreePort } from '../../../../src/service/http/listen.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';
import { thingRoutes } from '../../../support/service/service-routes.ts';

let service: ServiceApp | null = null;

afterEach(async () => {
  await service?.close();
  service = null;
});

describe('health', () => {
  it('is answered without a key while all is well', async () => {
    service = await startServiceApp([]);
    const { ask } = service;
    expect(await ask('/-/readiness', { key: null })).toMatchObject({
      status: 200,
      text: 'ready\n',
    });
    expect(await ask('/-/liveness', { key: null })).toMatchObject({ status: 200, text: 'live\n' });
    expect((await ask('/health', { key: null })).json).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      state: 'running',
      database: 'answers',
    });
  });

  it('is not ready while the database fails, and still alive', async () => {
    service = await startServiceApp([], {
      store: { query: () => Promise.reject(new Error('away')) },
    });
    const reply = await service.ask('/-/readiness', { key: null });
    expect(reply.json).toEqual({
      statusCode: 503,
      error: 'Service Unavailable',
      message: 'The database does not answer',
      attributes: {},
    });
    expect((await service.ask('/-/liveness', { key: null })).status).toBe(200);
    expect((await service.ask('/health', { key: null })).json.database).toBe('silent');
  });

  it('reports not ready where the database refuses results', async () => {
    service = await startServiceApp([], { takesResults: async () => false });
    expect(await service.ask('/-/readiness', { key: null })).toMatchObject({
      status: 503,
      json: { message: 'The database refuses results: its disk is full, or it is read-only' },
    });
    expect((await service.ask('/-/liveness', { key: null })).status).toBe(200);
    expect((await service.ask('/health', { key: null })).json.database).toBe('refuses');
  });

  it('waits two seconds for the database, and asks a hanging one only once', async () => {
    const clock = new FakeClock();
    let asked = 0;
    service = await startServiceApp([], {
      clock,
      store: {
        query: () => {
          asked += 1;
          return new Promise(() => {});
        },
      },
    });
    const replies = [1, 2, 3].map(() => service?.ask('/-/readiness', { key: null }));
    await eventually(() => clock.pendingTimers === 3);
    clock.spend(1_999);
    expect(asked).toBe(1);
    await clock.advance(1);
    expect((await Promise.all(replies)).map((reply) => reply?.status)).toEqual([503, 503, 503]);
  });

  it('has metrics by route and status, never by path', async () => {
    service = await startServiceApp([thingRoutes()]);
    const { ask, inFlight } = service;
    await ask('/v1/things/missing');
    await ask('/v1/things/conflict');
    await ask('/secret-path');
    await ask('/v1/things', { method: 'PROPFIND' });
    await eventually(() => inFlight.size === 0);
    const { text, headers } = await ask('/metrics', { key: null });
    expect(headers['content-type']).toMatch(/^text\/plain/);
    const counts = text.split('\n').filter((line) => line.includes('http_requests_total{'));
    expect(counts).toEqual(
      expect.arrayContaining([
        'vedette_service_http_requests_total{method="GET",route="/v1/things/:id",status="404"} 1',
        'vedette_service_http_requests_total{method="GET",route="/v1/things/:id",status="409"} 1',
        'vedette_service_http_requests_total{method="GET",route="unmatched",status="404"} 1',
        'vedette_service_http_requests_total{method="other",route="unmatched",status="405"} 1',
      ]),
    );
    expect(text).not.toContain('secret-path');
    expect(text).toMatch(/request_duration_seconds_count\{.*route="\/v1\/things\/:id"\} 2/);
  });
});

describe('stopping', () => {
  /** A route that answers when the test says so. */
  function slowRoute(): { routes: FastifyPluginAsync; started: Promise<void>; answer: () => void } {
    let tellStarted = (): void => {};
    let answer = (): void => {};
    const started = new Promise<void>((resolve) => {
      tellStarted = resolve;
    });
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    return {
      started,
      answer: () => answer(),
      routes: async (app) => {
        app.get('/v1/slow', { config: { role: 'read' } }, async () => {
          tellStarted();
          await answered;
          return { done: true };
        });
      },
    };
  }

  it('lets a request in progress end, and is not ready meanwhile', async () => {
    const slow = slowRoute();
    service = await startServiceApp([slow.routes]);
    const { ask, app, inFlight, stopping } = service;
    const waiting = ask('/v1/slow');
    await slow.started;
    stopping.abort();
    const closed = closeApp(app, inFlight, new AbortController().signal);
    const readiness = await ask('/-/readiness', { key: null });
    expect([readiness.status, readiness.json.message]).toEqual([503, 'The service is stopping']);
    expect(readiness.headers.connection).toBe('close');
    slow.answer();
    expect(await waiting).toMatchObject({ status: 200, json: { done: true } });
    await closed;
    await expect(ask('/-/readiness')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('cuts remaining requests at the end of the grace', async () => {
    const slow = slowRoute();
    service = await startServiceApp([slow.routes]);
    const { ask, app, inFlight } = service;
    const cut = expect(ask('/v1/slow')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await slow.started;
    const now = new AbortController();
    const closed = closeApp(app, inFlight, now.signal);
    now.abort();
    await closed;
    await cut;
    slow.answer();
  });

  it('is not delayed by silent connections', async () => {
    service = await startServiceApp([]);
    const { app, inFlight, port, ask } = service;
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const half = connect(port, '127.0.0.1');
    half.write('GET /health HTTP/1.1\r\nhost: ');
    await once(half, 'connect');
    await ask('/-/liveness');
    const ends = [silent, half].map((socket) => {
      socket.on('error', () => {});
      return once(socket, 'close');
    });
    await closeApp(app, inFlight, new AbortController().signal);
    await Promise.all(ends);
  });
});

describe('the port', () => {
  it('that is taken is an error which says what to do', async () => {
    service = await startServiceApp([]);
    const { port } = service;
    const other = await startServiceApp([], {}, { port, host: '127.0.0.1' }).catch(
      (error: unknown) => error,
    );
    expect(other).toMatchObject({
      kind: 'environment',
      code: 'PORT_TAKEN',
      message: expect.stringContaining(`port ${port} (PORT) is already in use`),
    });
    // So the service checks the port before it creates a database.
    await expect(expectFreePort({ port, host: '127.0.0.1' })).rejects.toMatchObject({
      code: 'PORT_TAKEN',
    });
    await service.close();
    await expectFreePort({ port, host: '127.0.0.1' });
    await expectFreePort({ port, host: null });
  });

  it('at an address that this machine lacks is an error, too', async () => {
    await expect(startServiceApp([], {}, { port: 0, host: '192.0.2.1' })).rejects.toMatchObject({
      kind: 'environment',
      code: 'HOST_UNKNOWN',
    });
  });

  it('is open on all addresses if none is configured', async () => {
    service = await startServiceApp([], {}, { port: 0, host: null });
    expect((await service.ask('/-/liveness', { key: null })).status).toBe(200);
  });
});

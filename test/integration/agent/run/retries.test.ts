import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runFixture, SLOT_MS } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { listenTcp, refusingPort } from '../../../support/servers/tcp-servers.ts';

const RETRY = { type: 'FIXED', baseBackoffSeconds: 60, maxRetries: 2 };

async function refused(): Promise<{ hostname: string; port: number }> {
  const { port, close } = await refusingPort();
  onTestFinished(close);
  return { hostname: '127.0.0.1', port };
}

/** Answers each request with the next of these statuses, then repeats the last one. */
async function statusServer(statuses: readonly number[], onRequest = async () => {}) {
  let requests = 0;
  const server = createServer((_request, response) => {
    const status = statuses[Math.min(requests, statuses.length - 1)] ?? 500;
    requests += 1;
    void onRequest().then(() => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

it('a passing run is one FINAL result, named by its slot', async () => {
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const fixture = runFixture({ clock: new FakeClock() });
  const check = checkOf('TCP', { id: 'db', name: 'Database', request: { port: target.port } });
  await fixture.run(check);
  await fixture.run(check);
  const [result, again] = fixture.results;
  expect(result).toMatchObject({
    resultType: 'FINAL',
    checkId: 'db',
    name: 'Database',
    checkType: 'TCP',
    hasFailures: false,
    hasErrors: false,
    attempts: 0,
    checkRunId: SLOT_MS,
    runLocation: 'local',
    tcpCheckResult: { requestError: null, requestErrorCode: null },
    apiCheckResult: null,
  });
  // The same slot run twice is the same result.
  expect(again?.id).toBe(result?.id);
  expect(again?.sequenceId).toBe(result?.sequenceId);
});

it('a failing run makes its retries, each after its delay', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const ended = fixture.run(
    checkOf('TCP', {
      request: await refused(),
      retryStrategy: { ...RETRY, type: 'LINEAR' },
    }),
  );
  await fixture.resultCount(1);
  await clock.advance(59_999);
  expect(fixture.results).toHaveLength(1);
  await clock.advance(1);
  await fixture.resultCount(2);
  await clock.advance(120_000);
  await ended;

  expect(fixture.results.map(({ resultType, attempts }) => [resultType, attempts])).toEqual([
    ['ATTEMPT', 0],
    ['ATTEMPT', 1],
    ['FINAL', 2],
  ]);
  expect(new Set(fixture.results.map(({ sequenceId }) => sequenceId)).size).toBe(1);
  expect(new Set(fixture.results.map(({ id }) => id)).size).toBe(3);
  expect(fixture.results[2]?.tcpCheckResult?.requestErrorCode).toBe('CONNECT_REFUSED');
});

it('a run that recovers ends with the attempt that passed', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  // No other process gets the port: it is bound at another address.
  const { port, close } = await refusingPort();
  onTestFinished(close);
  const hostname = '127.0.0.9';
  const request = { hostname, port };
  const ended = fixture.run(checkOf('TCP', { request, retryStrategy: RETRY }));
  await fixture.resultCount(1);
  const server = await listenTcp((socket) => socket.end(), hostname, port);
  onTestFinished(() => server.close());
  await clock.advance(60_000);
  await ended;
  expect(fixture.results.map((result) => [result.resultType, result.hasFailures])).toEqual([
    ['ATTEMPT', true],
    ['FINAL', false],
  ]);
  expect(fixture.results[1]?.attempts).toBe(1);
});

it('no retry starts past maxDurationSeconds', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const retryStrategy = { ...RETRY, maxRetries: 10, maxDurationSeconds: 90 };
  const ended = fixture.run(checkOf('TCP', { request: await refused(), retryStrategy }));
  await fixture.resultCount(1);
  await clock.advance(60_000);
  await ended;
  expect(fixture.results.at(-1)).toMatchObject({ resultType: 'FINAL', attempts: 1 });
});

it('doubleCheck retries once, at once', async () => {
  const fixture = runFixture({ clock: new FakeClock() });
  await fixture.run(checkOf('TCP', { request: await refused() }));
  expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['ATTEMPT', 'FINAL']);
});

it('onlyOn NETWORK_ERROR does not retry a run that got a status', async () => {
  const fixture = runFixture({ clock: new FakeClock() });
  const retryStrategy = { ...RETRY, baseBackoffSeconds: 0, onlyOn: ['NETWORK_ERROR'] };
  const request = await statusServer([500]);
  await fixture.run(checkOf('URL', { request, retryStrategy }));
  expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['FINAL']);

  const { hostname, port } = await refused();
  const unreachable = { url: `http://${hostname}:${port}/` };
  await fixture.run(checkOf('URL', { request: unreachable, retryStrategy }));
  expect(fixture.results).toHaveLength(4);
});

it('a degraded run counts as passed and is not retried', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const request = await statusServer([200], () => clock.advance(200));
  const check = checkOf('URL', { request, retryStrategy: RETRY, degradedResponseTime: 100 });
  await fixture.run(check);
  expect(fixture.results).toMatchObject([
    { resultType: 'FINAL', isDegraded: true, hasFailures: false, responseTime: 200 },
  ]);
});

it('a run that waits for its retry releases its permit', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock, concurrency: 1 });
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const failing = checkOf('TCP', { id: 'down', request: await refused(), retryStrategy: RETRY });
  const ended = fixture.run(failing);
  await fixture.resultCount(1);
  await fixture.run(checkOf('TCP', { id: 'up', request: { port: target.port } }));
  expect(fixture.results.map(({ checkId }) => checkId)).toEqual(['down', 'up']);
  await clock.advance(60_000);
  await fixture.resultCount(3);
  await clock.advance(60_000);
  await ended;
});

it('a run that is stopped while it waits is missed and leaves no timer', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock });
  const stop = new AbortController();
  const check = checkOf('TCP', { request: await refused(), retryStrategy: RETRY });
  const ended = fixture.run(check, stop.signal);
  await fixture.resultCount(1);
  await eventually(() => (clock.nextTimerInMs ?? 0) > 0);
  stop.abort();
  await ended;
  expect(fixture.results.map(({ resultType }) => resultType)).toEqual(['ATTEMPT']);
  expect(fixture.missed).toEqual([
    {
      checkId: check.id,
      slot: SLOT_MS,
      lastSlot: SLOT_MS,
      count: 1,
      reason: 'agent_stopped',
    },
  ]);
});

import { expect, it, onTestFinished } from 'vitest';
import type {
  CheckTypeRunner,
  CheckTypeRunners,
} from '../../../../src/agent/run/check-types/check-type.ts';
import { httpRunner } from '../../../../src/agent/run/check-types/http.ts';
import {
  AT_WORK_BYTES,
  AT_WORK_MS,
} from '../../../../src/agent/scheduler/permits/wait-detector.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { rawServer } from '../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

const LIMIT_MS = 30_000;

it('a run that waits for its target releases its permit, and ends at its time limit', async () => {
  const clock = new FakeClock();
  const fixture = runFixture({ clock, concurrency: 1 });
  const silent = await rawServer(() => {});
  const target = await listenTcp((socket) => socket.end());
  onTestFinished(() => target.close());
  const request = { url: silent.url() };
  const hanging = fixture.run(checkOf('URL', { id: 'hanging', retryStrategy: null, request }));
  await eventually(() => silent.open === 1);
  await clock.advance(AT_WORK_MS);
  expect([fixture.places.running, fixture.places.waiting]).toEqual([0, 1]);
  await fixture.run(checkOf('TCP', { id: 'up', request: { port: target.port } }));
  expect(fixture.results.map(({ checkId }) => checkId)).toEqual(['up']);
  await clock.advance(LIMIT_MS);
  await hanging;
  expect(fixture.results[1]).toMatchObject({
    checkId: 'hanging',
    resultType: 'FINAL',
    hasFailures: true,
    apiCheckResult: { requestErrorCode: 'RESPONSE_TIMEOUT' },
  });
  expect([fixture.places.running, fixture.places.waiting, clock.pendingTimers]).toEqual([0, 0, 0]);
});

it('a run retains its permit while its target sends a body fast, and then releases it', async () => {
  const clock = new FakeClock();
  let received = 0;
  const http = httpRunner<'URL'>({ clientCertificates: () => [], proxyUrl: () => null });
  const checkTypes = {
    URL: {
      ...http,
      probe: (check, context, room) => {
        const onBody = (bytes: number): void => {
          received += bytes;
          context.onBody?.(bytes);
        };
        return http.probe(check, { ...context, onBody }, room);
      },
    } satisfies CheckTypeRunner<'URL'>,
  } as Partial<CheckTypeRunners> as CheckTypeRunners;
  const fixture = runFixture({ clock, concurrency: 1, parts: { checkTypes } });
  let goOn = (): void => {};
  const goesOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const piece = Buffer.alloc(AT_WORK_BYTES, 'x');
  const server = await rawServer(async (peer) => {
    await peer.request();
    await peer.send(`HTTP/1.1 200 OK\r\nContent-Length: ${2 * piece.length}\r\n\r\n`, piece);
    await goesOn;
    await peer.send(piece);
  });
  const run = fixture.run(checkOf('URL', { request: { url: server.url() } }));
  await eventually(() => received === piece.length);
  await clock.advance(AT_WORK_MS);
  expect([fixture.places.running, fixture.places.waiting]).toEqual([1, 0]);
  await clock.advance(AT_WORK_MS);
  expect([fixture.places.running, fixture.places.waiting]).toEqual([0, 1]);
  goOn();
  await run;
  expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: false }]);
});

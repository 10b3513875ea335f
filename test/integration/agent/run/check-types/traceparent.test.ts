import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { traceIdOf } from '../../../../../src/model/result/trace-context.ts';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

/** Fails each request, and keeps what it was sent as traceparent. */
async function tracedTarget() {
  const received: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers.traceparent as string | undefined);
    response.writeHead(500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

it('a check that asks for it sends the trace of its run, and a span for each attempt', async () => {
  const target = await tracedTarget();
  const fixture = runFixture({ clock: new FakeClock() });
  await fixture.run(checkOf('URL', { request: { url: target.url, traceparent: true } }));

  expect(target.received).toHaveLength(2);
  const parts = target.received.map((text) => text?.split('-') ?? []);
  const traceId = traceIdOf(fixture.results[0]?.sequenceId ?? '');
  for (const [index, [version, trace, span, flags]] of parts.entries()) {
    expect([version, trace, flags]).toEqual(['00', traceId, '01']);
    expect(span).toMatch(/^[0-9a-f]{16}$/);
    const lines = fixture.results[index]?.apiCheckResult?.jobLog.map(({ msg }) => msg);
    expect(lines).toContain(`Sending traceparent: ${target.received[index]}`);
    const { headers } = fixture.results[index]?.apiCheckResult?.request ?? { headers: {} };
    expect(headers).toMatchObject({ traceparent: target.received[index] });
  }
  expect(parts[0]?.[2]).not.toBe(parts[1]?.[2]);
});

it('a check that does not ask for it sends none, and one with a header of its own sends that', async () => {
  const target = await tracedTarget();
  const fixture = runFixture({ clock: new FakeClock() });
  const retryStrategy = null;
  await fixture.run(checkOf('URL', { request: { url: target.url }, retryStrategy }));
  const headers = [{ key: 'Traceparent', value: 'own' }];
  const request = { url: target.url, traceparent: true, headers };
  await fixture.run(checkOf('API', { request, retryStrategy }));
  expect(target.received).toEqual([undefined, 'own']);
});

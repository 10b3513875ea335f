import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runFixture } from '../../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

const ASSERTIONS = [{ source: 'STATUS_CODE', comparison: 'ONE_OF', target: '200-299, 404' }];

/** Responds with the status in the path. */
async function startTarget(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(Number(url.slice(1))).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([false, true])(
  'a check with ONE_OF passes on the statuses of its list alone (shouldFail %s)',
  async (shouldFail) => {
    const target = await startTarget();
    const fixture = runFixture({ clock: new FakeClock() });
    const statuses = [200, 204, 404, 403, 500];
    for (const status of statuses) {
      const request = { url: `${target}/${status}`, assertions: ASSERTIONS };
      const fields = { id: `of-${status}`, shouldFail, retryStrategy: null };
      await fixture.run(checkOf('URL', { ...fields, request }));
      await fixture.run(checkOf('API', { ...fields, request }));
    }
    const failed = fixture.results.filter(({ hasFailures }) => hasFailures);
    expect(fixture.results).toHaveLength(2 * statuses.length);
    expect(failed.map(({ apiCheckResult }) => apiCheckResult?.response?.status)).toEqual([
      403, 403, 500, 500,
    ]);
    const errors = failed.flatMap(({ apiCheckResult }) => apiCheckResult?.assertions ?? []);
    expect(errors[0]?.error).toBe(
      'expected the status code to be one of "200-299, 404", but it was 403',
    );
  },
);

it.each([false, true])(
  'a check with ONE_OF fails without a response (shouldFail %s)',
  async (shouldFail) => {
    const fixture = runFixture({ clock: new FakeClock() });
    // Nothing listens on port 1.
    const request = { url: 'http://127.0.0.1:1/', assertions: ASSERTIONS };
    await fixture.run(checkOf('URL', { shouldFail, retryStrategy: null, request }));
    expect(fixture.results).toMatchObject([
      { hasFailures: true, apiCheckResult: { requestErrorCode: 'CONNECT_REFUSED' } },
    ]);
  },
);

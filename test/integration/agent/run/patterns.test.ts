import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import {
  createEvaluator,
  type Evaluator,
  type EvaluatorOptions,
} from '../../../../src/agent/assertions/evaluator.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

const WORKER = join(import.meta.dirname, '../../../../dist/agent/assertions/evaluation-worker.js');

/** Takes longer than anybody waits. */
const CATASTROPHIC = { source: 'TEXT_BODY', regex: '^(a+)+$', comparison: 'NOT_NULL' };
const BODY = `${'a'.repeat(40)}b`;

/** A fixture whose patterns have the limit, and the port of a target that answers with BODY. */
async function startFixture(
  options: Pick<EvaluatorOptions, 'limitMs' | 'schedstat'> = {},
  starvedMs = 0,
) {
  const workerUrl = pathToFileURL(WORKER);
  const evaluator = createEvaluator({ clock: systemClock, workerUrl, ...options });
  onTestFinished(() => evaluator.close());
  const clock = new FakeClock();
  const starved: Evaluator = {
    ...evaluator,
    async evaluate(...given) {
      const results = evaluator.evaluate(...given);
      if (starvedMs > 0) await clock.stall(starvedMs);
      return await results;
    },
  };
  const fixture = runFixture({ clock, parts: { evaluator: starved } });
  let answered = (): void => {};
  const hasAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const target = await listenTcp((socket) => {
    socket.once('data', () => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${BODY.length}`;
      socket.end(`${head}\r\n\r\n${BODY}`, answered);
    });
  });
  onTestFinished(() => target.close());
  const request = { url: `http://127.0.0.1:${target.port}/`, assertions: [CATASTROPHIC] };
  const slow = checkOf('API', { id: 'slow', request, retryStrategy: null });
  return { evaluator, fixture, port: target.port, slow, hasAnswered };
}

it('a catastrophic pattern fails its own assertion (trust model SN20)', async () => {
  const { fixture, slow } = await startFixture();
  await fixture.run(slow);
  expect(fixture.results).toMatchObject([
    { checkId: 'slow', hasFailures: true, apiCheckResult: { assertions: [{ actual: null }] } },
  ]);
  const [assertion] = fixture.results[0]?.apiCheckResult?.assertions ?? [];
  expect(assertion?.error).toContain('100 ms');
});

it('the address that answered and the version of HTTP can be asserted', async () => {
  const { fixture, slow } = await startFixture();
  const asserted = (source: string, target: string) => ({ source, target, comparison: 'EQUALS' });
  const assertions = [
    asserted('IP_ADDRESS', '127.0.0.1'),
    asserted('HTTP_VERSION', '1.1'),
    asserted('HTTP_VERSION', '2'),
  ];
  const { url } = slow.request;
  await fixture.run(checkOf('API', { request: { url, assertions }, retryStrategy: null }));
  const errors = fixture.results[0]?.apiCheckResult?.assertions.map(({ error }) => error);
  const failed = 'expected the HTTP version to equal 2, but it was "1.1"';
  expect(errors).toEqual([null, null, failed]);
});

it.runIf(process.platform === 'linux')(
  'a catastrophic pattern fails its own assertion, however short of CPU the agent is',
  async () => {
    const { fixture, slow } = await startFixture({}, 500);
    await fixture.run(slow);
    expect(fixture.starved).toBe(0);
    expect(fixture.results).toMatchObject([{ checkId: 'slow', hasFailures: true }]);
  },
);

it('a pattern for which the agent has too little CPU fails nothing', async () => {
  const schedstat = join(makeTestFolder(), 'schedstat');
  writeFileSync(schedstat, '12000000 0 1\n');
  const { fixture, slow } = await startFixture({ limitMs: 50, schedstat });
  const stop = new AbortController();
  const ended = fixture.run(slow, stop.signal);
  await eventually(() => fixture.starved === 1);
  stop.abort();
  await ended;
  expect(fixture.results).toEqual([]);
});

it('a catastrophic pattern delays no other check (trust model SN20)', async () => {
  const { evaluator, fixture, port, slow, hasAnswered } = await startFixture({ limitMs: 600_000 });
  const running = fixture.run(slow);
  await hasAnswered;

  // Each waits for the event loop, which the pattern would hold for as long as it may take.
  const request = { hostname: '127.0.0.1', port };
  const others = Array.from({ length: 20 }, (_, n) =>
    checkOf('TCP', { id: `other-${n}`, request }),
  );
  await Promise.all(others.map((check) => fixture.run(check)));
  expect(fixture.results.map(({ hasFailures }) => hasFailures)).toEqual(others.map(() => false));

  await evaluator.close();
  await running;
  expect(fixture.results.at(-1)?.checkId).toBe('slow');
});

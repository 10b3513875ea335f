import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createEvaluator } from '../../../src/agent/assertions/evaluator.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { checkOf } from '../../support/checks.ts';
import { runHarness } from '../../support/run-harness.ts';
import { listenTcp } from '../../support/tcp-servers.ts';

const WORKER = join(import.meta.dirname, '../../../dist/agent/assertions/pattern-worker.js');

it('a catastrophic pattern fails its own assertion and makes no other check late (trust model SN20)', async () => {
  const evaluator = createEvaluator({ clock: systemClock, workerUrl: pathToFileURL(WORKER) });
  onTestFinished(() => evaluator.close());
  const harness = runHarness({ clock: systemClock, parts: { evaluator } });

  const body = `${'a'.repeat(40)}b`;
  let answered = (): void => {};
  const hasAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const target = await listenTcp((socket) => {
    socket.once('data', () => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}`;
      socket.end(`${head}\r\n\r\n${body}`, answered);
    });
  });
  onTestFinished(() => target.close());
  const request = {
    url: `http://127.0.0.1:${target.port}/`,
    assertions: [{ source: 'TEXT_BODY', regex: '^(a+)+$', comparison: 'NOT_NULL' }],
  };
  const slow = harness.run(checkOf('API', { id: 'slow', request, retryStrategy: null }));
  await hasAnswered;

  // Each waits for the event loop, which the pattern must not hold for its 100 ms.
  const others = Array.from({ length: 20 }, (_, n) =>
    harness.run(
      checkOf('TCP', { id: `other-${n}`, request: { hostname: '127.0.0.1', port: target.port } }),
    ),
  );
  await Promise.all([slow, ...others]);

  expect(harness.results.map(({ checkId }) => checkId).at(-1)).toBe('slow');
  expect(harness.results.filter(({ hasFailures }) => hasFailures)).toMatchObject([
    { checkId: 'slow', apiCheckResult: { assertions: [{ actual: null }] } },
  ]);
  const [assertion] = harness.results.at(-1)?.apiCheckResult?.assertions ?? [];
  expect(assertion?.error).toContain('100 ms');
});

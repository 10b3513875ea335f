import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, open, openSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import {
  openStarvationSources,
  StarvationMeter,
} from '../../../../src/agent/run/starvation/starvation-meter.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { makeContext } from '../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { holdLoop } from '../../../support/process/held-loop.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';
import { probe } from '../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';

const HOLDS = 20;
/** Each is too short to be sure to make a timer late. */
const HOLD_MS = 15;

it("work that blocks the event loop for short times makes an attempt's times uncertain", async () => {
  const meter = new StarvationMeter(systemClock, await openStarvationSources());
  onTestFinished(() => meter.close());
  const attempt = meter.begin();
  onTestFinished(() => meter.end());
  for (let hold = 0; hold < HOLDS; hold += 1) {
    holdLoop(HOLD_MS);
    await nextTurn();
  }
  expect(attempt.uncertainMs).toBeGreaterThanOrEqual((HOLDS - 1) * HOLD_MS);
});

/** The exchange stops reading when more than this waits for the decoder. */
const QUEUED_BYTES = 256 * 1024;
const PAUSED_MS = 5000;

it.runIf(process.platform === 'linux')(
  'the time in which a target waits for the decoder of its body is uncertain',
  async () => {
    const clock = new FakeClock();
    const sources = { threadDelay: null, sockets: null, loopIdleMs: null };
    const meter = new StarvationMeter(clock, sources);
    onTestFinished(() => meter.close());
    const starvation = meter.begin();
    onTestFinished(() => meter.end());
    const body = gzipSync(randomBytes(4 * QUEUED_BYTES));
    const target = await rawServer(answering(response('200 OK', body, 'Content-Encoding: gzip')));
    const release = occupyThreadPool();
    let bytes = 0;
    let context = makeContext({ clock, starvation });
    const paused = new Promise<void>((resolve) => {
      const onBody = (count: number): void => {
        bytes += count;
        if (bytes > QUEUED_BYTES) resolve();
      };
      context = { ...context, onBody };
    });
    const probing = probe(target.url(), { context });
    await paused;
    await nextTurn();
    await clock.advance(PAUSED_MS);
    await release();
    const { failure, timingPhases } = await probing;
    expect(failure).toBeNull();
    expect(timingPhases.total).toBeGreaterThanOrEqual(PAUSED_MS);
    expect(starvation.uncertainMs).toBe(PAUSED_MS);
    expect(starvation.starvedMs).toBe(PAUSED_MS);
  },
);

/** Each of the threads that decode waits to open a FIFO, until the returned function is called. */
function occupyThreadPool(): () => Promise<void> {
  const fifo = join(makeTestFolder(), 'fifo');
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const opening = Array.from({ length: threads }, () => promisify(open)(fifo, 'r'));
  return async () => {
    const ours = openSync(fifo, 'r+');
    for (const fd of await Promise.all(opening)) closeSync(fd);
    closeSync(ours);
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StarvationMeter } from '../../../../../src/agent/run/starvation/starvation-meter.ts';
import { openThreadDelay } from '../../../../../src/agent/run/starvation/thread-delay.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { makeTestFolder } from '../../../../support/process/test-folder.ts';

function setUp() {
  const clock = new FakeClock();
  const thread = { delayMs: 1000, readings: 0 };
  const threadDelay = {
    readMs() {
      thread.readings += 1;
      return thread.delayMs;
    },
    close() {},
  };
  const meter = new StarvationMeter(clock, { threadDelay, sockets: null, loopIdleMs: null });
  return { clock, thread, meter };
}

it('starvation is the larger of waiting for a CPU and lateness, never their sum', async () => {
  const { clock, thread, meter } = setUp();
  const attempt = meter.begin();
  await clock.stall(320);
  thread.delayMs += 200;
  expect(attempt.starvedMs).toBe(300);
  thread.delayMs += 200;
  await clock.advance(1);
  expect(attempt.starvedMs).toBe(400);
  meter.end();
});

it('sums pauses that are each too short to matter', async () => {
  const { clock, thread, meter } = setUp();
  const attempt = meter.begin();
  for (let pause = 0; pause < 20; pause += 1) {
    await clock.advance(5);
    thread.delayMs += 95;
    await clock.advance(95);
  }
  expect(attempt.starvedMs).toBe(20 * 95);
  meter.end();
});

it('starvation counts only time lost during the attempt', async () => {
  const { clock, thread, meter } = setUp();
  const before = meter.begin();
  await clock.stall(520);
  thread.delayMs += 500;
  const attempt = meter.begin();
  await clock.advance(1000);
  expect(before.starvedMs).toBe(500);
  expect(attempt.starvedMs).toBe(0);
  meter.end();
  meter.end();
});

it('excludes times that the kernel measured from the uncertainty, but not from the starvation', async () => {
  const { clock, thread, meter } = setUp();
  const attempt = meter.begin();
  await clock.stall(70);
  thread.delayMs += 50;
  const mark = attempt.mark();
  await clock.stall(420);
  thread.delayMs += 390;
  attempt.timedByKernel({
    since: mark,
    until: attempt.mark(),
    unseenMs: 400,
    uncertainMs: 0.25,
  });
  await clock.advance(5);
  expect(attempt.starvedMs).toBe(450);
  expect(attempt.uncertainMs).toBe(50.25);
  meter.end();
});

it('counts starvation after the end of a time that the kernel measured as uncertain', async () => {
  const { clock, thread, meter } = setUp();
  const attempt = meter.begin();
  const since = attempt.mark();
  const until = attempt.mark();
  // A quota may end between any two statements.
  await clock.stall(95);
  thread.delayMs += 95;
  attempt.timedByKernel({ since, until, unseenMs: 0, uncertainMs: 0 });
  expect(attempt.uncertainMs).toBe(95);
  meter.end();
});

it('an attempt is never more uncertain than starved', async () => {
  const { clock, meter } = setUp();
  const attempt = meter.begin();
  await clock.advance(50);
  const now = attempt.mark();
  attempt.timedByKernel({ since: now, until: now, unseenMs: 0, uncertainMs: 3 });
  expect(attempt.uncertainMs).toBe(0);
  meter.end();
});

it('an attempt is uncertain by slow readings of the clocks, even if the agent is not starved', async () => {
  const { clock, meter } = setUp();
  const attempt = meter.begin();
  await clock.advance(50);
  const now = attempt.mark();
  attempt.timedByKernel({ since: now, until: now, unseenMs: 0, uncertainMs: 3, slowReadingMs: 4 });
  expect(attempt.uncertainMs).toBe(4);
  meter.end();
});

it('counts a pause of its reading once, however starved the agent was in it', async () => {
  const { clock, thread, meter } = setUp();
  const attempt = meter.begin();
  thread.delayMs += 10;
  await clock.advance(20);
  const since = attempt.mark();
  thread.delayMs += 300;
  await clock.advance(400);
  attempt.pausedReading({ since, until: attempt.mark(), durationMs: 400 });
  expect(attempt.starvedMs).toBe(410);
  expect(attempt.uncertainMs).toBe(410);
  meter.end();
});

it('shares one reading among attempts that begin together, and has no timer without attempts', async () => {
  const { clock, thread, meter } = setUp();
  for (let attempt = 0; attempt < 100; attempt += 1) meter.begin();
  expect(thread.readings).toBe(1);
  expect(clock.pendingTimers).toBe(1);
  for (let attempt = 0; attempt < 100; attempt += 1) meter.end();
  expect(clock.pendingTimers).toBe(0);
});

it('counts work of the agent as uncertain if it filled half of the time between two readings', async () => {
  const clock = new FakeClock();
  let idleMs = 0;
  const meter = new StarvationMeter(clock, {
    threadDelay: null,
    sockets: null,
    loopIdleMs: () => idleMs,
  });
  /** The 20 ms from one reading to the next, `busyMs` of them at work. */
  const pass = async (busyMs: number): Promise<void> => {
    idleMs += 20 - busyMs;
    await clock.advance(20);
  };
  const attempt = meter.begin();
  for (const busyMs of [9, 20, 0, 15, 5, 9]) await pass(busyMs);
  expect(attempt.uncertainMs).toBe(20 + 15);
  // Its own work is no reason for the agent to skip runs.
  expect(attempt.starvedMs).toBe(0);
  await clock.advance(12);
  expect(attempt.uncertainMs).toBe(20 + 15 + 12);
  meter.end();
});

it('uses only lateness if the kernel reports nothing', async () => {
  const clock = new FakeClock();
  const meter = new StarvationMeter(clock, { threadDelay: null, sockets: null, loopIdleMs: null });
  const attempt = meter.begin();
  await clock.stall(1020);
  expect(attempt.starvedMs).toBe(1000);
  meter.end();
});

it('reads the time that a thread was runnable without a CPU', () => {
  const file = join(makeTestFolder(), 'schedstat');
  writeFileSync(file, '12345678901234 9876543210 42\n');
  const delay = openThreadDelay(file);
  onTestFinished(() => delay?.close());
  expect(delay?.readMs()).toBeCloseTo(9876.54321, 5);
});

it.each(['', '0\n', 'none'])('has no runnable time if schedstat contains %j', (text) => {
  const file = join(makeTestFolder(), 'schedstat');
  writeFileSync(file, text);
  expect(openThreadDelay(file)).toBeNull();
});

it('has no runnable time if there is no schedstat file', () => {
  expect(openThreadDelay(join(makeTestFolder(), 'schedstat'))).toBeNull();
});

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { limitedWait, type WaitOutcomes } from '../../../../src/agent/net/limited-wait.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const ends: WaitOutcomes<string> = { timedOut: () => 'timed out', cancelled: () => 'cancelled' };

function setUp() {
  const clock = new FakeClock();
  const controller = new AbortController();
  const released: string[] = [];
  let settleWith = (_value: string): void => {};
  const limits = { clock, signal: controller.signal, deadlineMs: clock.monotonicMs() + 100 };
  const begin = (settle: (value: string) => void): (() => void) => {
    settleWith = settle;
    return () => released.push('released');
  };
  const start = () => limitedWait(limits, ends, begin);
  return { clock, controller, released, start, settle: (value: string) => settleWith(value) };
}

it('a wait ends once, with the value that settles it, and releases once', async () => {
  const { clock, controller, released, start, settle } = setUp();
  const wait = start();
  settle('answer');
  settle('another');
  controller.abort();
  await clock.advance(1000);
  expect(await wait).toBe('answer');
  expect(released).toEqual(['released']);
  expect(clock.pendingTimers).toBe(0);
});

it('a wait removes its listener from the signal at its end', async () => {
  const { controller, start, settle } = setUp();
  const wait = start();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  settle('answer');
  await wait;
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
});

it('a wait ends at the deadline', async () => {
  const { clock, released, start } = setUp();
  const wait = start();
  await clock.advance(99);
  expect(released).toEqual([]);
  await clock.advance(1);
  expect(await wait).toBe('timed out');
  expect(released).toEqual(['released']);
});

it('data that has arrived by the deadline takes precedence over the deadline', async () => {
  let fire = (): void => {};
  const clock: Clock = {
    ...systemClock,
    after(_delayMs, callback) {
      fire = callback;
      return () => {};
    },
  };
  const limits = { clock, signal: new AbortController().signal, deadlineMs: 100 };
  // The event loop is late: it runs the timer before it reads the socket, in the same iteration.
  const wait = limitedWait(limits, ends, (settle) => {
    queueMicrotask(() => {
      fire();
      settle('answer');
    });
    return () => {};
  });
  expect(await wait).toBe('answer');
});

it('a wait ends when it is cancelled, also before it begins', async () => {
  const { clock, controller, released, start } = setUp();
  const wait = start();
  controller.abort();
  expect(await wait).toBe('cancelled');
  expect(released).toEqual(['released']);
  expect(await start()).toBe('cancelled');
  expect(released).toEqual(['released']);
  expect(clock.pendingTimers).toBe(0);
});

it('a wait that is settled at once releases what was opened', async () => {
  const { clock } = setUp();
  const released: string[] = [];
  const limits = { clock, signal: new AbortController().signal, deadlineMs: 5000 };
  const wait = limitedWait(limits, ends, (settle) => {
    settle('at once');
    return () => released.push('released');
  });
  expect(await wait).toBe('at once');
  expect(released).toEqual(['released']);
});

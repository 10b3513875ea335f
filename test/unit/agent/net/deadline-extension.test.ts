import { expect, it } from 'vitest';
import type { PeerActivity } from '../../../../src/agent/net/kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../../../../src/agent/net/limited-wait.ts';
import type { StarvationWatch } from '../../../../src/agent/net/starvation-watch.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LIMIT_MS = 30_000;
const UNKNOWN: PeerActivity = { kind: 'unknown' };

/** A wait of 30 s with a meter that the test sets. */
function startWait(activity: () => PeerActivity) {
  const clock = new FakeClock();
  const meter = { starvedMs: 0, timeOuts: [] as boolean[] };
  const starvation: StarvationWatch = {
    sockets: null,
    startMs: clock.monotonicMs(),
    get starvedMs() {
      return meter.starvedMs;
    },
    mark: () => ({ runDelayMs: 0, lateMs: 0, busyMs: 0 }),
    timedByKernel: () => {},
    pausedReading: () => {},
    unseenMs: 0,
    timedOut: (certain) => void meter.timeOuts.push(certain),
  };
  const { signal } = new AbortController();
  const limits: Limits = { clock, signal, deadlineMs: clock.monotonicMs() + LIMIT_MS, starvation };
  let end = (_value: string): void => {};
  let isOver = false;
  const ends = { timedOut: () => 'timed out', cancelled: () => 'cancelled', activity };
  const ended = limitedWait<string>(limits, ends, (settle) => {
    end = settle;
    return () => {};
  }).finally(() => {
    isOver = true;
  });
  return { clock, meter, ended, answer: (text: string) => end(text), isOver: () => isOver };
}

it('a peer that was silent for the whole limit gets no more time, however starved the agent was', async () => {
  const { clock, meter, ended } = startWait(() => ({ kind: 'silent', ms: LIMIT_MS - 4 }));
  meter.starvedMs = 29_000;
  await clock.advance(LIMIT_MS);
  expect(await ended).toBe('timed out');
  expect(meter.timeOuts).toEqual([true]);
});

it('a wait is extended by the starvation if the kernel state is not available', async () => {
  const { clock, meter, ended, isOver } = startWait(() => UNKNOWN);
  await clock.advance(1);
  meter.starvedMs = 4000;
  await clock.advance(LIMIT_MS + 3900);
  expect(isOver()).toBe(false);
  await clock.advance(100);
  expect(await ended).toBe('timed out');
  expect(meter.timeOuts).toEqual([true]);
});

it('a wait is extended by no more than the delay of the request', async () => {
  let silentMs = LIMIT_MS - 500;
  const { clock, meter, ended, isOver } = startWait(() => ({ kind: 'silent', ms: silentMs }));
  meter.starvedMs = 4000;
  await clock.advance(LIMIT_MS + 400);
  expect(isOver()).toBe(false);
  silentMs = LIMIT_MS;
  await clock.advance(100);
  expect(await ended).toBe('timed out');
});

it('data that the kernel has is read before a wait times out', async () => {
  let activity: PeerActivity = { kind: 'arrived' };
  const { clock, ended, answer } = startWait(() => {
    setImmediate(() => answer('an answer'));
    return activity;
  });
  activity = { kind: 'arrived' };
  await clock.advance(LIMIT_MS + 1);
  expect(await ended).toBe('an answer');
});

it('a wait ends at twice its limit, and is then not certain', async () => {
  const { clock, meter, ended } = startWait(() => UNKNOWN);
  meter.starvedMs = 1_000_000;
  await clock.advance(2 * LIMIT_MS);
  expect(await ended).toBe('timed out');
  expect(meter.timeOuts).toEqual([false]);
});

it('a peer that sends without end does not extend a wait', async () => {
  const { clock, ended } = startWait(() => ({ kind: 'arrived' }));
  await clock.advance(LIMIT_MS + 1);
  expect(await ended).toBe('timed out');
});

import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Scheduler } from '../../../../src/agent/scheduler/scheduler.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { everyMinute, gate, MINUTE, SECOND } from './scheduler-fixture.ts';

const CHECKS = 2000;
const CONCURRENCY = 50;

it('starts thousands of checks that share a slot, each once, as permits become free', async () => {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, wallMs: () => Date.now() + aheadMs };
  const started = new Map<string, number>();
  const latenessMs: number[] = [];
  const all = gate();
  const full = gate();
  let running = 0;
  let most = 0;
  const scheduler = new Scheduler({
    clock,
    concurrency: CONCURRENCY,
    maxWaiting: 0,
    run: async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === CONCURRENCY) full.open();
      await full.opened;
      await nextRound();
      running -= 1;
    },
    onMissed: (missed) => expect.unreachable(`missed: ${missed.reason}`),
    slots: { began() {}, ended() {} },
    onFault: (fault) => {
      throw fault;
    },
    observer: {
      started: ({ id }, _slotMs, lateMs) => {
        started.set(id, (started.get(id) ?? 0) + 1);
        latenessMs.push(lateMs);
        if (latenessMs.length === CHECKS) all.open();
      },
    },
  });
  scheduler.setChecks(Array.from({ length: CHECKS }, (_, n) => everyMinute(`check ${n}`)));
  // Real time, shifted so that the next full minute is 100 ms away.
  aheadMs = MINUTE - (Date.now() % MINUTE) - 100;
  scheduler.start();
  await all.opened;
  await scheduler.drain(new AbortController().signal);

  expect(started.size).toBe(CHECKS);
  expect([...started.values()].every((times) => times === 1)).toBe(true);
  expect(Math.min(...latenessMs)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...latenessMs)).toBeLessThan(30 * SECOND);
  expect(most).toBe(CONCURRENCY);
  expect([scheduler.running, scheduler.queued]).toEqual([0, 0]);
});

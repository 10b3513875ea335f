import { beforeEach, describe, expect, it } from 'vitest';
import {
  AT_WORK_BYTES,
  AT_WORK_MS,
  detectWaiting,
} from '../../../../../src/agent/scheduler/permits/wait-detector.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

describe('detectWaiting', () => {
  let clock = new FakeClock();
  let starvedMs = 0;
  let waits = 0;
  /** The agent was starved for so much of the clock's time in all. */
  const starvation = {
    mark: () => ({ runDelayMs: starvedMs, lateMs: 0, busyMs: 0 }),
    sinceMs: ({ runDelayMs }: { readonly runDelayMs: number }) => starvedMs - runDelayMs,
  };
  const watch = () =>
    detectWaiting(clock, starvation, () => {
      waits += 1;
    });

  beforeEach(() => {
    clock = new FakeClock();
    starvedMs = 0;
    waits = 0;
  });

  it('reports once that an attempt waits, after its work time', async () => {
    watch();
    await clock.advance(AT_WORK_MS - 1);
    expect(waits).toBe(0);
    await clock.advance(1);
    expect(waits).toBe(1);
    await clock.advance(1000);
    expect([waits, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('reports nothing for an attempt that has ended', async () => {
    watch().stop();
    await clock.advance(1000);
    expect([waits, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('does not count the time for which the agent was starved', async () => {
    watch();
    starvedMs = 30;
    await clock.advance(AT_WORK_MS);
    expect(waits).toBe(0);
    starvedMs = 40;
    await clock.advance(30);
    expect(waits).toBe(0);
    await clock.advance(10);
    expect(waits).toBe(1);
  });

  it('counts an attempt as at work while its peer sends much', async () => {
    const { received } = watch();
    received(AT_WORK_BYTES);
    await clock.advance(AT_WORK_MS);
    received(AT_WORK_BYTES - 1);
    expect(waits).toBe(0);
    await clock.advance(AT_WORK_MS);
    expect(waits).toBe(1);
  });
});

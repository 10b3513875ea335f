import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}

/** The largest of several readings: a process that is interrupted during one reads too little. */
function suspendedMs(): number {
  return Math.max(...Array.from({ length: 10 }, () => systemClock.suspendedMs()));
}

describe('systemClock', () => {
  it('advances by the waited time, and counts none of it as sleep of the machine', async () => {
    const before = { wallMs: systemClock.wallMs(), monotonicMs: systemClock.monotonicMs() };
    const suspendedBeforeMs = suspendedMs();
    await passed(100);
    expect(systemClock.monotonicMs() - before.monotonicMs).toBeGreaterThanOrEqual(100);
    expect(systemClock.wallMs() - before.wallMs).toBeGreaterThan(98);
    expect(Math.abs(suspendedMs() - suspendedBeforeMs)).toBeLessThan(50);
  });

  it('never calls back before the time is up, where Node counts in whole milliseconds', async () => {
    const early = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const delayMs = index / 10;
        await passed(delayMs / 2);
        const startMs = systemClock.monotonicMs();
        await passed(delayMs);
        return delayMs - (systemClock.monotonicMs() - startMs);
      }),
    );
    expect(Math.max(...early)).toBeLessThanOrEqual(0);
  });

  it('never calls back a cancelled timer', async () => {
    let calls = 0;
    const cancel = systemClock.after(1, () => {
      calls += 1;
    });
    cancel();
    await passed(20);
    expect(calls).toBe(0);
    cancel();
  });
});

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(ms, resolve);
  });
}

/** The largest of some readings: a process that is held up in the middle of one reads too little. */
function suspendedMs(): number {
  return Math.max(...Array.from({ length: 10 }, () => systemClock.suspendedMs()));
}

describe('systemClock', () => {
  it('moves on by what was waited for, and takes none of it for sleep of the machine', async () => {
    const before = { wallMs: systemClock.wallMs(), monotonicMs: systemClock.monotonicMs() };
    const suspendedBeforeMs = suspendedMs();
    await passed(100);
    // A timer may fire within the millisecond before.
    expect(systemClock.monotonicMs() - before.monotonicMs).toBeGreaterThan(98);
    expect(systemClock.wallMs() - before.wallMs).toBeGreaterThan(98);
    expect(Math.abs(suspendedMs() - suspendedBeforeMs)).toBeLessThan(50);
  });

  it('never calls back what was cancelled', async () => {
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

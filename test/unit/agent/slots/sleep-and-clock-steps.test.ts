import { describe, expect, it } from 'vitest';
import { intervalBetween } from '../../../../src/agent/slots/sleep-and-clock-steps.ts';

const before = { wallMs: 1_000_000, monotonicMs: 500 };

function intervalAfter(wallByMs: number, monotonicByMs: number, suspendedMs = 0) {
  const now = { wallMs: before.wallMs + wallByMs, monotonicMs: before.monotonicMs + monotonicByMs };
  return intervalBetween(before, now, suspendedMs);
}

describe('intervalBetween', () => {
  it('continues from the last reading when both clocks moved alike', () => {
    expect(intervalAfter(700, 700)).toEqual({
      fromMs: 1_000_000,
      toMs: 1_000_700,
      atMonotonicMs: 1200,
      stepMs: 0,
      isNotable: false,
      reason: 'agent_asleep',
    });
  });

  it('treats a pause in which both clocks moved as sleep', () => {
    expect(intervalAfter(3_600_000, 3_600_000).reason).toBe('agent_asleep');
  });

  it('treats a jump of the wall clock alone as a step', () => {
    const interval = intervalAfter(3_600_500, 500);
    expect(interval).toMatchObject({ stepMs: 3_600_000, isNotable: true, reason: 'clock_jump' });
  });

  it('treats a jump of the wall clock during suspension as sleep', () => {
    const interval = intervalAfter(3_600_500, 500, 3_600_000);
    expect(interval).toMatchObject({ stepMs: 0, isNotable: false, reason: 'agent_asleep' });
  });

  it('begins before now by the time that passed when the clock was set back', () => {
    expect(intervalAfter(-3_599_500, 500)).toMatchObject({
      fromMs: 1_000_000 - 3_600_000,
      toMs: 1_000_500 - 3_600_000,
      stepMs: -3_600_000,
      isNotable: true,
    });
  });

  it('finds nothing notable in a clock that is slewed', () => {
    expect(intervalAfter(1010, 1000)).toMatchObject({ fromMs: 1_000_000, isNotable: false });
    expect(intervalAfter(990, 1000)).toMatchObject({ fromMs: 999_990, isNotable: false });
  });
});

import { describe, expect, it } from 'vitest';
import { TimeCoverage } from '../../../../src/agent/slots/time-coverage.ts';
import { DAY, HOUR, MINUTE, SECOND, T0, YEAR } from '../scheduler/scheduler-fixture.ts';

const minutely = { periodMs: MINUTE, phaseMs: 0 };

function interval(fromMs: number, toMs: number, reason: 'agent_asleep' | 'clock_jump') {
  return { fromMs, toMs, atMonotonicMs: 0, stepMs: 0, isNotable: false, reason };
}

describe('the coverage of time', () => {
  it('skips the slots of a covered time', () => {
    const coverage = new TimeCoverage();
    coverage.commit(interval(T0, T0 + HOUR, 'agent_asleep'));
    expect(coverage.nextSlotAfter(minutely, T0 + 10 * MINUTE)).toBe(T0 + HOUR + MINUTE);
    expect(coverage.nextSlotAfter(minutely, T0 - 10 * MINUTE)).toBe(T0 - 9 * MINUTE);
  });

  it('leaves slots that the clock skipped to be run when they come', () => {
    const coverage = new TimeCoverage();
    coverage.commit(interval(T0, T0 + YEAR, 'clock_jump'));
    expect(coverage.nextSlotAfter(minutely, T0)).toBe(T0 + MINUTE);
    expect(coverage.isReported(T0 + MINUTE)).toBe(true);
  });

  it('includes the last half minute of a clock step, whose slots may have run', () => {
    const coverage = new TimeCoverage();
    coverage.commit(interval(T0, T0 + YEAR, 'clock_jump'));
    expect(coverage.isCovered(T0 + YEAR - 30 * SECOND)).toBe(false);
    expect(coverage.isCovered(T0 + YEAR - 29 * SECOND)).toBe(true);
    expect(coverage.isCovered(T0 + YEAR)).toBe(true);
  });

  it('returns each unreported slot once, in ranges', () => {
    const coverage = new TimeCoverage();
    coverage.commit(interval(T0 + 3 * MINUTE, T0 + 5 * MINUTE, 'agent_asleep'));
    expect(coverage.unreported(minutely, T0 + MINUTE, T0 + 9 * MINUTE)).toEqual([
      { slot: T0 + MINUTE, lastSlot: T0 + 3 * MINUTE, count: 3 },
      { slot: T0 + 6 * MINUTE, lastSlot: T0 + 9 * MINUTE, count: 4 },
    ]);
    coverage.commit(interval(T0, T0 + DAY, 'clock_jump'));
    expect(coverage.unreported(minutely, T0 + MINUTE, T0 + 9 * MINUTE)).toEqual([]);
  });

  it('returns no range where no slot lies between two covered times', () => {
    const coverage = new TimeCoverage();
    coverage.commit(interval(T0 - 1, T0 + 30 * SECOND, 'agent_asleep'));
    coverage.commit(interval(T0 + 40 * SECOND, T0 + 2 * MINUTE, 'agent_asleep'));
    expect(coverage.unreported(minutely, T0, T0 + 2 * MINUTE)).toEqual([]);
  });

  it('counts the slots of fifty years by arithmetic', () => {
    const coverage = new TimeCoverage();
    const everyTenSeconds = { periodMs: 10 * SECOND, phaseMs: 3 };
    const [range] = coverage.unreported(everyTenSeconds, T0 + 3, T0 + 3 + 50 * YEAR);
    expect(range?.count).toBe((50 * YEAR) / (10 * SECOND) + 1);
  });
});

import { describe, expect, it } from 'vitest';
import type { UnhealthyCondition } from '../../../../src/model/alerting/alert.ts';
import {
  calmAtMs,
  countAlert,
  type Flapping,
  flappingWindowMs,
  STEADY,
} from '../../../../src/model/alerting/flapping.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS = 30 * MINUTE_MS;

/** The steps of the flapping state for alerts at these minutes. */
function stepsAt(minutes: readonly number[], as: UnhealthyCondition = 'failing') {
  let flapping: Flapping = STEADY;
  const steps = minutes.map((minute) => {
    const alert = { alertId: `${minute}`, as, isCounted: true, atMs: minute * MINUTE_MS };
    const counted = countAlert(flapping, { ...alert, windowMs: WINDOW_MS });
    flapping = counted.flapping;
    return counted.step;
  });
  return { steps, flapping };
}

describe('a check', () => {
  it('flaps from its sixth alert within the window on', () => {
    const { steps, flapping } = stepsAt([0, 5, 10, 15, 20, 25, 26]);
    expect(steps.slice(4)).toEqual(['given', 'started', 'withheld']);
    expect(flapping.started).toEqual({ sinceMs: 0, as: 'failing', alertId: '25' });
    expect(calmAtMs(flapping, WINDOW_MS)).toBe(41 * MINUTE_MS);
  });

  it('does not flap if its sixth alert comes after the window', () => {
    const { steps, flapping } = stepsAt([0, 5, 10, 15, 20, 30, 36]);
    expect(new Set(steps)).toEqual(new Set(['given']));
    expect(calmAtMs(flapping, WINDOW_MS)).toBeNull();
  });

  it('that flaps between passing and degraded is reported again once it fails', () => {
    const { flapping } = stepsAt([0, 1, 2, 3, 4, 5], 'degraded');
    const failed = { alertId: 'f', as: 'failing', isCounted: false, atMs: 6 * MINUTE_MS } as const;
    const worse = countAlert(flapping, { ...failed, windowMs: WINDOW_MS });
    expect(worse).toMatchObject({ step: 'started', flapping: { started: { as: 'failing' } } });
    expect(countAlert(worse.flapping, { ...failed, windowMs: WINDOW_MS }).step).toBe('withheld');
  });

  it('has a window of 10 periods, from 30 minutes to 6 hours', () => {
    expect(
      [0, 1, 10, 1440].map((minutes) => flappingWindowMs(minutes * MINUTE_MS) / MINUTE_MS),
    ).toEqual([30, 30, 100, 360]);
  });
});

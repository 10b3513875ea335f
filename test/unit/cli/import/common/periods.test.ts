import { describe, expect, it } from 'vitest';
import { durationMs, nearestSchedule } from '../../../../../src/cli/import/common/periods.ts';

describe('a period', () => {
  it.each([
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['500ms', 500],
    ['1d', 86_400_000],
    ['soon', null],
    ['15', null],
  ])('%s has %s ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  it.each([
    [15_000, true, { frequency: 0, frequencyOffset: 10 }],
    [45_000, true, { frequency: 0, frequencyOffset: 30 }],
    [45_000, false, { frequency: 1 }],
    [240_000, false, { frequency: 5 }],
    [7 * 86_400_000, true, { frequency: 1440 }],
  ])('of %s ms (seconds allowed: %s) becomes the nearest', (ms, allowsSeconds, fields) => {
    expect(nearestSchedule(ms, allowsSeconds).fields).toEqual(fields);
  });
});

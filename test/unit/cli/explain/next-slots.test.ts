import { describe, expect, it } from 'vitest';
import { nextSlots } from '../../../../src/cli/explain/next-slots.ts';
import { checkSchema, type Subject } from '../../../../src/cli/explain/subject.ts';
import { wholeAlertSettings } from '../../../../src/model/alerting/alert-settings.ts';
import type { Pause } from '../../../../src/model/schedule/pause.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const KNOWN = new Set(['office', 'cellar']);
const DEFAULTS = wholeAlertSettings(null);

/** A check of every minute, at the full minute. */
function subject(fields: object = {}): Subject {
  const { retryStrategy: _, ...body } = checkOf('URL', {
    frequency: 1,
    frequencyOffset: 10,
    privateLocations: ['office', 'gone', 'cellar'],
    ...fields,
  });
  return {
    check: checkSchema.parse({ alertSettings: DEFAULTS, ...body }),
    group: null,
    alertSettings: { own: DEFAULTS, group: null, account: DEFAULTS },
  };
}
const slots = (fields: object = {}, pauses: readonly Pause[] = []) =>
  nextSlots(subject(fields), KNOWN, pauses, { nowMs: NOW, count: 3 }).map(
    ({ slotMs, locations, isPaused }) =>
      [(slotMs - NOW) / MINUTE, ...locations, isPaused ? 'paused' : 'runs'].join(' '),
  );

describe('the next slots', () => {
  it('rotate through the locations that exist, or run in all of them', () => {
    const rotated = slots();
    expect(rotated.map((slot) => slot.split(' ')[0])).toEqual(['1', '2', '3']);
    expect(new Set(rotated.slice(0, 2).map((slot) => slot.split(' ')[1]))).toEqual(KNOWN);
    expect(rotated[0]?.replace('1 ', '')).toBe(rotated[2]?.replace('3 ', ''));
    expect(slots({ runParallel: true })[0]).toBe('1 office cellar runs');
  });

  it('are marked where a maintenance window pauses them', () => {
    const pause: Pause = {
      startsAtMs: NOW + 2 * MINUTE,
      endsAtMs: NOW + 3 * MINUTE,
      repeatUnit: 'DAY',
      repeatInterval: null,
      repeatEndsAtMs: null,
      tags: ['web'],
    };
    const ends = (found: readonly string[]) => found.map((slot) => slot.split(' ').at(-1));
    expect(ends(slots({ tags: ['web'] }, [pause]))).toEqual(['runs', 'paused', 'runs']);
    expect(ends(slots({}, [pause]))).toEqual(['runs', 'runs', 'runs']);
  });

  it('are none where the check is not activated or has no location', () => {
    expect(slots({ activated: false })).toEqual([]);
    expect(slots({ privateLocations: ['gone'] })).toEqual([]);
    expect(slots({ privateLocations: null, locations: ['eu-west-1'] })).toEqual([]);
  });
});

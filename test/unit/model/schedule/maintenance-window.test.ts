import { describe, expect, it } from 'vitest';
import {
  fieldsOfWindow,
  type MaintenanceWindow,
  maintenanceWindowOf,
  maintenanceWindowSchema,
  pauseOf,
  silenceOf,
} from '../../../../src/model/schedule/maintenance-window.ts';

import { pausedAt } from '../../../../src/model/schedule/pause.ts';

const silencedAt = (windows: readonly MaintenanceWindow[], tags: readonly string[], ms: number) =>
  pausedAt(
    windows.map(silenceOf).filter((each) => each !== null),
    tags,
    ms,
  );
const T0 = Date.UTC(2026, 0, 31);

function windowOf(fields: object = {}): MaintenanceWindow {
  return maintenanceWindowOf(
    maintenanceWindowSchema.parse({
      name: 'Nightly',
      startsAt: '2026-01-31',
      endsAt: '2026-01-31T02:00:00Z',
      repeatUnit: 'DAY',
      ...fields,
    }),
  );
}

describe('a maintenance window', () => {
  it('silences the checks that have one of its tags, and none if it has no tags', () => {
    const tagged = [windowOf(), windowOf({ silenceAlertsTags: ['db', 'web'], tags: ['other'] })];
    expect(silencedAt(tagged, ['web'], T0)).toBe(true);
    expect(silencedAt(tagged, ['other'], T0)).toBe(false);
    expect(silencedAt(tagged, [], T0)).toBe(false);
    expect(silencedAt([], ['web'], T0)).toBe(false);
  });

  it('silences all checks, whatever its tags, if it is set to', () => {
    const all = [windowOf({ silenceAllAlerts: true, silenceAlertsTags: ['db'] })];
    expect(silencedAt(all, [], T0)).toBe(true);
    expect(silencedAt(all, ['web'], T0)).toBe(true);
  });

  it('silences only during an occurrence', () => {
    const nightly = [windowOf({ silenceAllAlerts: true, repeatInterval: 2 })];
    const hours = [-1, 0, 1.99, 2, 24, 48, 49, 50];
    const silenced = hours.filter((hour) => silencedAt(nightly, [], T0 + hour * 3_600_000));
    expect(silenced).toEqual([0, 1.99, 48, 49]);
  });

  it('pauses the checks with its tags, or all, or none', () => {
    const told = {
      startsAtMs: T0,
      endsAtMs: T0 + 7_200_000,
      repeatUnit: 'DAY',
      repeatInterval: null,
      repeatEndsAtMs: null,
    };
    expect(pauseOf(windowOf({ tags: ['db'] }))).toEqual({ ...told, tags: ['db'] });
    expect(pauseOf(windowOf({ tags: ['db'], pauseAllChecks: true }))).toEqual({
      ...told,
      tags: null,
    });
    expect(pauseOf(windowOf({ silenceAllAlerts: true, silenceAlertsTags: ['db'] }))).toBeNull();
  });

  it('has timestamps in UTC that are read back unchanged', () => {
    const window = windowOf({ repeatEndsAt: '2026-03-01T00:00:00.5+01:00' });
    const fields = fieldsOfWindow(window);
    expect(fields).toMatchObject({
      startsAt: '2026-01-31T00:00:00.000Z',
      endsAt: '2026-01-31T02:00:00.000Z',
      repeatEndsAt: '2026-02-28T23:00:00.500Z',
    });
    expect(maintenanceWindowOf(maintenanceWindowSchema.parse(fields))).toEqual(window);
  });
});

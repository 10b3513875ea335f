import { describe, expect, it } from 'vitest';
import type { MaintenanceWindow } from '../../../../../src/model/schedule/maintenance-window.ts';
import {
  hoursOnDay,
  type KnownWindow,
  maintenanceTimes,
  runningSince,
} from '../../../../../src/service/status-pages/state/maintenance.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TODAY = Date.UTC(2026, 2, 31);
const NOW = TODAY + 12 * HOUR;
const FROM = TODAY - 89 * DAY;

let windows = 0;
function stored(fields: Partial<MaintenanceWindow>) {
  windows += 1;
  const window: MaintenanceWindow = {
    logicalId: null,
    name: `w${windows}`,
    tags: [],
    pauseAllChecks: false,
    silenceAlertsTags: [],
    silenceAllAlerts: false,
    startsAtMs: NOW - HOUR,
    endsAtMs: NOW + HOUR,
    repeatUnit: 'DAY',
    repeatInterval: null,
    repeatEndsAtMs: null,
    ...fields,
  };
  return { id: windows, window, createdAt: new Date(0), updatedAt: null };
}

function namesFor(tags: readonly string[], ...given: ReturnType<typeof stored>[]): string[] {
  const times = maintenanceTimes(given, { fromMs: FROM, nowMs: NOW });
  return times.windowsFor(tags).map(({ name }) => name);
}

function known(fields: Partial<MaintenanceWindow>): KnownWindow {
  const times = maintenanceTimes([stored({ ...fields, pauseAllChecks: true })], {
    fromMs: FROM,
    nowMs: NOW,
  });
  const [window] = times.windowsFor([]);
  if (window === undefined) throw new Error('the window concerns no check');
  return window;
}

describe('maintenance windows', () => {
  it('concern the checks that they pause or whose alerts they silence, each once', () => {
    const both = stored({ name: 'both', tags: ['a'], silenceAlertsTags: ['a', 'b'] });
    const all = stored({ name: 'all', silenceAllAlerts: true });
    const nothing = stored({ name: 'nothing' });
    expect(namesFor(['a', 'b'], both, all, nothing)).toEqual(['all', 'both']);
    expect(namesFor(['b'], both)).toEqual(['both']);
    expect(namesFor(['c'], both, nothing)).toEqual([]);
  });

  it('are running from their start to before their end', () => {
    expect(runningSince([known({})])).toBe(NOW - HOUR);
    expect(runningSince([known({ startsAtMs: NOW, endsAtMs: NOW + 1 })])).toBe(NOW);
    expect(runningSince([known({ startsAtMs: NOW - 5, endsAtMs: NOW })])).toBeNull();
    expect(runningSince([])).toBeNull();
    expect(runningSince([known({ startsAtMs: NOW - 3 }), known({ startsAtMs: NOW - 9 })])).toBe(
      NOW - 9,
    );
  });

  it('that do not run have their next occurrence, as long as the first', () => {
    const daily = known({
      startsAtMs: FROM - 200 * DAY + 13 * HOUR,
      endsAtMs: FROM - 200 * DAY + 15 * HOUR,
      repeatInterval: 1,
    });
    const next = { fromMs: TODAY + 13 * HOUR, toMs: TODAY + 15 * HOUR, isRunning: false };
    expect(daily.next).toEqual(next);
    expect(known({ startsAtMs: NOW - 5, endsAtMs: NOW }).next).toBeNull();
    expect(daily.hours.size).toBe(89);
  });

  it('are on all days where each occurrence lasts longer than the interval', () => {
    const always = known({ startsAtMs: 0, endsAtMs: 3 * DAY, repeatInterval: 1 });
    const days = Array.from({ length: 90 }, (_, index) => FROM + index * DAY);
    expect([...always.hours.keys()]).toEqual(days);
  });

  it('are on the days that they touch', () => {
    const window = known({ startsAtMs: TODAY - DAY - 1, endsAtMs: TODAY - DAY + 1 });
    const touched = [-3, -2, -1, 0].filter((day) => window.hours.has(TODAY + day * DAY));
    expect(touched).toEqual([-2, -1]);
    const until = known({ startsAtMs: TODAY - DAY, endsAtMs: TODAY });
    expect(until.hours.has(TODAY)).toBe(false);
  });

  it('take the whole hours of a day that they touch, without overlaps', () => {
    const one = known({ startsAtMs: TODAY + 90 * 60_000, endsAtMs: TODAY + 2 * HOUR + 1 });
    const two = known({ startsAtMs: TODAY + 2 * HOUR, endsAtMs: TODAY + 3 * HOUR });
    const three = known({ startsAtMs: TODAY - DAY, endsAtMs: TODAY + 1 });
    const early = known({ startsAtMs: TODAY + 5 * HOUR, endsAtMs: TODAY + 6 * HOUR });
    expect(hoursOnDay([one, two, three, early], TODAY)).toEqual([
      { fromMs: TODAY, toMs: TODAY + 3 * HOUR },
      { fromMs: TODAY + 5 * HOUR, toMs: TODAY + 6 * HOUR },
    ]);
    expect(hoursOnDay([one], TODAY + DAY)).toEqual([]);
    expect(hoursOnDay([three], TODAY - DAY)).toEqual([{ fromMs: TODAY - DAY, toMs: TODAY }]);
  });
});

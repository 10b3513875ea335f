import { expect, it } from 'vitest';
import type { Sql } from '../../../../../src/service/database/store.ts';
import { createHistories } from '../../../../../src/service/status-pages/state/daily-history.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Date.UTC(2026, 10, 24);
const NO_SQL: Sql = {
  query: async () => {
    throw new Error('nothing is asked here');
  },
};

it('has the days up to the instant of the page, although the next day begins during the query', async () => {
  const clock = new FakeClock(MIDNIGHT_MS - 1);
  const histories = createHistories({
    clock,
    availability: {
      async days(_sql, { checkIds, days, nowMs }) {
        await clock.advance(10);
        const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
        const counted = Array.from({ length: days }, (_, index) => {
          const startMs = todayMs - (days - 1 - index) * DAY_MS;
          // As many runs as the day of the month.
          const runs = new Date(startMs).getUTCDate();
          return { startMs, runs, failures: 0, degraded: 0, missed: 0 };
        });
        return new Map(checkIds.map((id) => [id, counted]));
      },
      daysByLocation: async () => new Map(),
      within: async () => new Map(),
    },
  });
  const check = {
    id: 'shop',
    isHeartbeat: false,
    tags: [],
    locations: 1,
    runMs: 60_000,
    windows: [],
  };
  const rule = { failureRule: 'ANY', failureLocations: null } as const;
  const services = [{ id: 'service', rule, checks: [check], windows: [], incidents: [] }];
  const query = { accountId: 'mine', pageId: 'page', services, windowsVersion: '' };
  // Reads all days, then the current day beside the cached ones.
  for (const nowMs of [MIDNIGHT_MS - 1, MIDNIGHT_MS - 1]) {
    const found = await histories.read(NO_SQL, { ...query, nowMs });
    const days = found.get('service')?.days ?? [];
    expect(days).toHaveLength(90);
    expect(days.at(-1)?.day).toBe('2026-11-23');
    for (const { day, runs } of days) expect(runs, day).toBe(Number(day.slice(-2)));
  }
});

it('has for a day how long its worst check failed, was degraded and did not run, at most all day', async () => {
  const counts = new Map([
    ['minutely', { runs: 1_400, failures: 60, degraded: 12, missed: 40 }],
    ['hourly', { runs: 24, failures: 1, degraded: 3, missed: 0 }],
    // This check had a shorter period at that time.
    ['slower', { runs: 600, failures: 0, degraded: 0, missed: 600 }],
  ]);
  const histories = createHistories({
    clock: new FakeClock(MIDNIGHT_MS),
    availability: {
      days: async (_sql, { checkIds, days, nowMs }) =>
        new Map(
          checkIds.map((id) => {
            const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
            const own = counts.get(id) ?? { runs: 0, failures: 0, degraded: 0, missed: 0 };
            return [id, Array.from({ length: days }, () => ({ startMs, ...own }))] as const;
          }),
        ),
      daysByLocation: async () => new Map(),
      within: async () => new Map(),
    },
  });
  const checkOf = (id: string, minutes: number) => ({
    id,
    isHeartbeat: false,
    tags: [],
    locations: 1,
    runMs: minutes * 60_000,
    windows: [],
  });
  const rule = { failureRule: 'ANY', failureLocations: null } as const;
  const checks = [checkOf('minutely', 1), checkOf('hourly', 60), checkOf('slower', 10)];
  const services = [{ id: 'service', rule, checks, windows: [], incidents: [] }];
  const query = { accountId: 'mine', pageId: 'page', services, windowsVersion: '' };
  const found = await histories.read(NO_SQL, { ...query, nowMs: MIDNIGHT_MS });
  expect(found.get('service')?.days.at(-1)).toMatchObject({
    failures: 61,
    failingMs: 60 * 60_000,
    degradedMs: 180 * 60_000,
    missedMs: DAY_MS,
  });
});

import { expect, it } from 'vitest';
import type { Sql } from '../../../../src/service/database/store.ts';
import { createHistories } from '../../../../src/service/status-pages/state/history.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = Date.UTC(2026, 10, 24);
const NO_SQL: Sql = {
  query: async () => {
    throw new Error('nothing is asked here');
  },
};

it('has the days of the instant of the page, although the next day begins while they are counted', async () => {
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
  const check = { id: 'shop', isHeartbeat: false, tags: [], locations: 1, windows: [] };
  const rule = { failureRule: 'ANY', failureLocations: null } as const;
  const services = [{ id: 'service', rule, checks: [check], windows: [], incidents: [] }];
  const query = { accountId: 'mine', pageId: 'page', services, windowsVersion: '' };
  // All days, then the current one beside those that are remembered.
  for (const nowMs of [MIDNIGHT_MS - 1, MIDNIGHT_MS - 1]) {
    const found = await histories.read(NO_SQL, { ...query, nowMs });
    const days = found.get('service')?.days ?? [];
    expect(days).toHaveLength(90);
    expect(days.at(-1)?.day).toBe('2026-11-23');
    for (const { day, runs } of days) expect(runs, day).toBe(Number(day.slice(-2)));
  }
});

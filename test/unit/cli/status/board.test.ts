import { expect, it } from 'vitest';
import { readBoard } from '../../../../src/cli/status/board.ts';

const COUNTS = { failing: 0, degraded: 0, unknown: 0, passing: 23, paused: 0 };
const SINCE = '2026-01-31T11:30:00.000Z';
const FRA = { slug: 'fra', name: 'Frankfurt', state: 'silent', silentSince: SINCE, checks: 23 };
const OFFICE = { slug: 'office', name: 'Office', state: 'online', silentSince: null, checks: 23 };

/** Answers by the start of the path. */
const client = {
  get: async (path: string): Promise<unknown> => {
    if (path.startsWith('/v1/check-state-counts')) return COUNTS;
    if (path.startsWith('/v1/check-statuses')) return [];
    if (path.startsWith('/v1/private-location-statuses')) return [FRA, OFFICE];
    throw new Error(`${path} is not read`);
  },
};

it('names a silent location although all of its checks pass in another one', async () => {
  const { silentLocations } = await readBoard(client, false, new AbortController().signal);
  expect(silentLocations).toEqual([{ slug: 'fra', name: 'Frankfurt', since: SINCE, checks: 23 }]);
});

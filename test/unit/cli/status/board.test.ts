import { describe, expect, it } from 'vitest';
import { readBoard } from '../../../../src/cli/status/board.ts';

const COUNTS = { failing: 0, degraded: 0, unknown: 0, passing: 23, paused: 0 };
const SINCE = '2026-01-31T11:30:00.000Z';
const { signal } = new AbortController();

interface Location {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly silentSince: string | null;
}

const location = (slug: string, silentSince: string | null): Location => ({
  ...{ id: `id-of-${slug}`, slug, name: `At ${slug}`, silentSince },
});

/** A service with these locations. The agents of `polling` poll again since the list was read. */
function serviceWith(locations: readonly Location[], polling: readonly string[] = []) {
  const counted: string[] = [];
  return {
    counted,
    get: async (path: string): Promise<unknown> => {
      if (path.startsWith('/v1/check-state-counts')) return COUNTS;
      if (path.startsWith('/v1/check-statuses?')) return [];
      if (path.startsWith('/v1/private-locations?')) return locations;
      throw new Error(`${path} is not read`);
    },
    find: async (path: string): Promise<unknown> => {
      const id = path.replace('/v1/private-location-statuses/', '');
      counted.push(id);
      const found = locations.find((one) => one.id === id);
      if (found === undefined) throw new Error(`${path} is not read`);
      if (found.slug === 'gone') return null;
      return { silentSince: polling.includes(found.slug) ? null : found.silentSince, checks: 23 };
    },
  };
}

describe('the silent locations of vedette status', () => {
  it('are named although all of their checks pass in another one', async () => {
    const client = serviceWith([location('fra', SINCE), location('office', null)]);
    const { silentLocations } = await readBoard(client, false, signal);
    expect(silentLocations).toEqual([{ slug: 'fra', name: 'At fra', since: SINCE, checks: 23 }]);
    // Counting is expensive for the service, and --watch reads after each change.
    expect(client.counted).toEqual(['id-of-fra']);
  });

  it('are not those that ended or were deleted while they were read', async () => {
    const locations = ['fra', 'gone', 'back'].map((slug) => location(slug, SINCE));
    const { silentLocations } = await readBoard(serviceWith(locations, ['back']), false, signal);
    expect(silentLocations.map(({ slug }) => slug)).toEqual(['fra']);
  });

  it('are all named, and the first 20 of them counted', async () => {
    const many = Array.from({ length: 25 }, (_, n) => location(`l${n}`, SINCE));
    const client = serviceWith(many);
    const { silentLocations } = await readBoard(client, false, signal);
    expect(silentLocations.map(({ checks }) => checks)).toEqual([
      ...Array.from({ length: 20 }, () => 23),
      ...Array.from({ length: 5 }, () => null),
    ]);
    expect(client.counted).toHaveLength(20);
  });
});

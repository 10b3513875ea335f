import { describe, expect, it } from 'vitest';
import { type GroupCheck, planGroupRun } from '../../../../src/service/group-runs/plan.ts';

const CELLAR = { id: '1', slug: 'cellar', isLive: true };
const ATTIC = { id: '2', slug: 'attic', isLive: true };
const SILENT = { id: '3', slug: 'vault', isLive: false };

function checkOf(id: string, fields: Partial<GroupCheck> = {}): GroupCheck {
  const check = { id, name: id, checkType: 'TCP', activated: true, groupOrder: null };
  return { ...check, locations: [CELLAR], ...fields };
}

function planned(checks: readonly GroupCheck[], location: string | null = null): readonly string[] {
  return planGroupRun(checks, location).map((member) =>
    [member.checkId, member.location?.slug ?? '-', member.reason ?? 'runs'].join(' '),
  );
}

describe('the plan of a group run', () => {
  it('is sorted by order, then by id, with checks without an order last', () => {
    const checks = [
      checkOf('none'),
      checkOf('b', { groupOrder: 1 }),
      checkOf('late', { groupOrder: 10 }),
      checkOf('a', { groupOrder: 1 }),
      checkOf('first', { groupOrder: 0 }),
    ];
    const wanted = ['first', 'a', 'b', 'late', 'none'].map((id) => `${id} cellar runs`);
    expect(planned(checks)).toEqual(wanted);
  });

  it('has each check in all of its locations that have an agent', () => {
    const both = checkOf('both', { locations: [ATTIC, SILENT, CELLAR] });
    expect(planned([both])).toEqual(['both attic runs', 'both vault no_agent', 'both cellar runs']);
  });

  it('has a check without any agent in its first location, where it waits for one', () => {
    const silent = checkOf('silent', { locations: [SILENT, { ...ATTIC, isLive: false }] });
    expect(planned([silent])).toEqual(['silent vault runs', 'silent attic no_agent']);
  });

  it('has only the requested location, with or without an agent', () => {
    const checks = [checkOf('a', { locations: [CELLAR, SILENT] }), checkOf('b')];
    expect(planned(checks, 'vault')).toEqual(['a vault runs', 'b - no_location']);
  });

  it('skips deactivated checks, heartbeats and checks without a location', () => {
    const checks = [
      checkOf('a', { activated: false }),
      checkOf('b', { checkType: 'HEARTBEAT', locations: [] }),
      checkOf('c', { locations: [] }),
    ];
    expect(planned(checks)).toEqual(['a - deactivated', 'b - heartbeat', 'c - no_location']);
  });
});

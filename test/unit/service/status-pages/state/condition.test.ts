import { describe, expect, it } from 'vitest';
import type { FailureRule } from '../../../../../src/model/status-page/status-page.ts';
import {
  type CheckCondition,
  conditionByChecks,
  conditionByIncidents,
  conditionOfCheck,
  type MeasuringCheck,
  SERVICE_CONDITIONS,
  worse,
  worstCondition,
} from '../../../../../src/service/status-pages/state/condition.ts';
import { conditionOfDay } from '../../../../../src/service/status-pages/state/day-condition.ts';

const NOW = Date.UTC(2026, 0, 1);
const ANY = { failureRule: 'ANY', failureLocations: null } as const;
const CHECK: MeasuringCheck = {
  isHeartbeat: false,
  state: 'passing',
  sinceMs: NOW - 1_000,
  judgedAtMs: NOW - 500,
  staleAfterMs: 600_000,
  locations: 2,
  failedAtMs: [],
};

describe('the condition of a check', () => {
  const says = (
    check: Partial<MeasuringCheck>,
    rule: { readonly failureRule: FailureRule; readonly failureLocations: number | null } = ANY,
    maintenanceSinceMs: number | null = null,
  ): string =>
    conditionOfCheck({ ...CHECK, ...check }, rule, { nowMs: NOW, maintenanceSinceMs }).says;

  it('is nothing while it is not activated, also in maintenance', () => {
    expect(says({ state: 'paused' })).toBe('nothing');
    expect(says({ state: 'paused' }, ANY, NOW - 1)).toBe('nothing');
  });

  it('is maintenance instead of a failure while a window is running', () => {
    const check = { ...CHECK, state: 'failing' } as const;
    const times = { nowMs: NOW, maintenanceSinceMs: NOW - 7 };
    expect(conditionOfCheck(check, ANY, times)).toEqual({ says: 'maintenance', sinceMs: NOW - 7 });
  });

  it.each(['failing', 'degraded', 'passing'] as const)(
    'is not known when no run judged it for too long, however %s it was',
    (state) => {
      expect(says({ state, judgedAtMs: NOW - 600_000 })).toBe(state);
      expect(says({ state, judgedAtMs: NOW - 600_001 })).toBe('unknown');
      expect(says({ state, judgedAtMs: null })).toBe('unknown');
    },
  );

  it('is that of the heartbeat however old its last event is', () => {
    const old = { isHeartbeat: true, judgedAtMs: NOW - 400 * 86_400_000 };
    expect(says({ ...old, state: 'failing' })).toBe('failing');
    expect(says({ ...old, state: 'unknown' })).toBe('unknown');
    const byLocations = { failureRule: 'LOCATIONS', failureLocations: 2 } as const;
    expect(says({ ...old, state: 'failing' }, byLocations)).toBe('failing');
  });

  it.each([
    [1, 2, [1], 'failing'],
    [2, 2, [1], 'passing'],
    [2, 2, [1, 2], 'failing'],
    [3, 2, [1, 2], 'failing'],
    [3, 5, [1, 2], 'passing'],
    [2, 0, [1], 'failing'],
    [2, 2, [], 'passing'],
  ])(
    'with the rule LOCATIONS %i and %i locations that fail at %j is %s',
    (failureLocations, locations, failedAtMs, wanted) => {
      const rule = { failureRule: 'LOCATIONS', failureLocations } as const;
      for (const state of ['failing', 'passing'] as const) {
        expect(says({ state, locations, failedAtMs }, rule)).toBe(wanted);
      }
    },
  );
});

describe('the condition of a service by its checks', () => {
  const LETTERS: Readonly<Record<string, CheckCondition['says']>> = {
    f: 'failing',
    d: 'degraded',
    p: 'passing',
    u: 'unknown',
    m: 'maintenance',
    n: 'nothing',
  };
  const checksOf = (letters: string): readonly CheckCondition[] =>
    [...letters].map((letter, index) => ({
      says: LETTERS[letter] ?? 'nothing',
      sinceMs: index + 1,
    }));

  it.each([
    // checks, with ANY, with ALL
    ['p', 'OPERATIONAL', 'OPERATIONAL'],
    ['pp', 'OPERATIONAL', 'OPERATIONAL'],
    ['f', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'],
    ['ff', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'],
    ['fp', 'PARTIAL_OUTAGE', 'DEGRADED'],
    ['fd', 'PARTIAL_OUTAGE', 'DEGRADED'],
    ['fu', 'PARTIAL_OUTAGE', 'DEGRADED'],
    ['fm', 'PARTIAL_OUTAGE', 'DEGRADED'],
    ['fn', 'MAJOR_OUTAGE', 'MAJOR_OUTAGE'],
    ['dp', 'DEGRADED', 'DEGRADED'],
    ['dm', 'DEGRADED', 'DEGRADED'],
    ['mp', 'MAINTENANCE', 'MAINTENANCE'],
    ['mu', 'MAINTENANCE', 'MAINTENANCE'],
    ['pu', 'OPERATIONAL', 'OPERATIONAL'],
    ['pn', 'OPERATIONAL', 'OPERATIONAL'],
    ['u', 'UNKNOWN', 'UNKNOWN'],
    ['n', 'UNKNOWN', 'UNKNOWN'],
    ['un', 'UNKNOWN', 'UNKNOWN'],
    ['', 'UNKNOWN', 'UNKNOWN'],
  ])('of %j is %s with ANY and LOCATIONS, and %s with ALL', (letters, any, all) => {
    expect(conditionByChecks('ANY', checksOf(letters)).condition).toBe(any);
    expect(conditionByChecks('LOCATIONS', checksOf(letters)).condition).toBe(any);
    expect(conditionByChecks('ALL', checksOf(letters)).condition).toBe(all);
  });

  it('never has an outage unless a check fails, whatever the others say', () => {
    const letters = Object.keys(LETTERS).filter((letter) => letter !== 'f');
    for (const rule of ['ANY', 'ALL', 'LOCATIONS'] as const) {
      for (const one of letters) {
        for (const two of letters) {
          for (const three of letters) {
            const { condition } = conditionByChecks(rule, checksOf(one + two + three));
            expect(condition, one + two + three).not.toMatch(/OUTAGE/);
          }
        }
      }
    }
  });

  it('depends not on the order of the checks, and gets no better when one of them gets worse', () => {
    const order = ['p', 'm', 'd', 'f'];
    for (const rule of ['ANY', 'ALL'] as const) {
      const rank = (letters: string): number =>
        SERVICE_CONDITIONS.indexOf(conditionByChecks(rule, checksOf(letters)).condition);
      for (const [index, one] of order.entries()) {
        for (const two of order) {
          expect(rank(one + two)).toBe(rank(two + one));
          for (const worseOne of order.slice(index)) {
            expect(rank(worseOne + two), one + worseOne + two).toBeGreaterThanOrEqual(
              rank(one + two),
            );
          }
        }
      }
    }
  });

  it.each([
    ['fpf', 1],
    ['pff', 2],
    ['ff', 2],
    ['pd', 2],
    ['p', null],
    ['uu', 2],
    ['mm', 1],
  ])('of %j holds since %j', (letters, sinceMs) => {
    expect(conditionByChecks('ANY', checksOf(letters)).sinceMs).toBe(sinceMs);
  });
});

describe('the condition by incidents', () => {
  it('is that of the most severe open incident, since the first of that condition began', () => {
    expect(conditionByIncidents([])).toEqual({ condition: 'OPERATIONAL', sinceMs: null });
    const incidents = [
      { severity: 'MINOR', startedAtMs: 1 },
      { severity: 'MAJOR', startedAtMs: 3 },
      { severity: 'MAJOR', startedAtMs: 2 },
    ] as const;
    const expected = { condition: 'PARTIAL_OUTAGE', sinceMs: 2 };
    expect(conditionByIncidents(incidents)).toEqual(expected);
  });
});

it('the worse of two conditions is the later of the list; of equal ones the earlier time counts', () => {
  const degraded = { condition: 'DEGRADED', sinceMs: 5 } as const;
  expect(worse(degraded, { condition: 'MAINTENANCE', sinceMs: 1 })).toEqual(degraded);
  expect(worse({ condition: 'UNKNOWN', sinceMs: 1 }, degraded)).toEqual(degraded);
  expect(worse(degraded, { condition: 'DEGRADED', sinceMs: 3 }).sinceMs).toBe(3);
  expect(worse(degraded, { condition: 'DEGRADED', sinceMs: null }).sinceMs).toBe(5);
  expect(worstCondition([])).toBe('OPERATIONAL');
  expect(worstCondition(['UNKNOWN', 'OPERATIONAL'])).toBe('UNKNOWN');
});

describe('the condition of a day', () => {
  it.each([
    [0, 0, 0, 'UNKNOWN'],
    [1000, 0, 0, 'OPERATIONAL'],
    [1000, 0, 49, 'OPERATIONAL'],
    [1000, 0, 50, 'DEGRADED'],
    [1000, 1, 0, 'DEGRADED'],
    [1000, 49, 0, 'DEGRADED'],
    [1000, 50, 0, 'PARTIAL_OUTAGE'],
    [1000, 499, 0, 'PARTIAL_OUTAGE'],
    [1000, 500, 0, 'MAJOR_OUTAGE'],
  ])('with %i runs, %i failures and %i degraded ones is %s', (runs, failures, degraded, wanted) => {
    const leastShare = runs === 0 ? 0 : failures / runs;
    for (const rule of ['ANY', 'ALL', 'LOCATIONS'] as const) {
      expect(conditionOfDay(rule, { runs, failures, degraded, leastShare })).toBe(wanted);
    }
  });

  it('is no major outage while one of the checks passed, and with the rule ALL none', () => {
    const day = { runs: 200, failures: 100, degraded: 0, leastShare: 0 };
    expect(conditionOfDay('ANY', day)).toBe('PARTIAL_OUTAGE');
    expect(conditionOfDay('ALL', day)).toBe('DEGRADED');
  });
});

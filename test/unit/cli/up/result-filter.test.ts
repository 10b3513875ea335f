import { describe, expect, it } from 'vitest';
import { ResultFilter } from '../../../../src/cli/up/result-filter.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { resultOf } from '../../../support/samples/http-results.ts';

const START_MS = 1_000_000;
const checks = (count: number) =>
  Array.from({ length: count }, (_, n) => checkOf('URL', { id: `check-${n}` }));
const of = (n: number, fields: Partial<CheckResult> = {}) =>
  resultOf({ checkId: `check-${n}`, ...fields });
const missed = (checkId: string, slot: number) =>
  ({ checkId, slot, lastSlot: slot + 60_000, count: 2, reason: 'agent_stopped' }) as const;

function filterOf(count: number, all = false): ResultFilter {
  const filter = new ResultFilter({ all });
  filter.know(checks(count));
  filter.begin(START_MS);
  return filter;
}

describe('what vedette up prints', () => {
  it.each([
    [20, false],
    [21, true],
  ])('is every run of %i checks (with --all: %j)', (count, all) => {
    const filter = filterOf(count, all);
    expect(filter.wants(of(0))).toBe(true);
    expect(filter.wants(of(0))).toBe(true);
    expect(filter.wants(of(0, { resultType: 'ATTEMPT', hasFailures: true }))).toBe(true);
    expect(filter.takeFirstRound()).toBeNull();
  });

  it('is only changes of more checks: a first failure, and an end other than before', () => {
    const filter = filterOf(21);
    const failed = { hasFailures: true };
    const runs = [{}, {}, failed, failed, { isDegraded: true }, {}];
    const printed = runs.map((fields) => filter.wants(of(0, fields)));
    expect(printed).toEqual([false, false, true, false, true, true]);
    expect(filter.wants(of(1, { hasFailures: true }))).toBe(true);
    expect(filter.wants(of(2, { resultType: 'ATTEMPT', hasFailures: true }))).toBe(false);
  });

  it('says once how the first runs of all checks ended', () => {
    const filter = filterOf(21);
    for (let n = 0; n < 20; n += 1) filter.wants(of(n, n < 2 ? { hasFailures: true } : {}));
    expect(filter.takeFirstRound()).toBeNull();
    filter.wants(of(20, { isDegraded: true }));
    expect(filter.takeFirstRound()).toBe(
      '21 checks have run once: 18 passed, 1 degraded, 2 failed',
    );
    filter.wants(of(0));
    expect(filter.takeFirstRound()).toBeNull();
  });

  it('has no missed slots from before the start was complete, nor of checks that the file lacks', () => {
    const filter = filterOf(2);
    expect(filter.wantsMissed(missed('check-0', START_MS - 1))).toBe(false);
    expect(filter.wantsMissed(missed('check-0', START_MS))).toBe(true);
    // A check of the sample that this file replaced.
    expect(filter.wantsMissed(missed('own-health', START_MS + 1))).toBe(false);
    filter.know(checks(1));
    expect(filter.wantsMissed(missed('check-1', START_MS + 1))).toBe(false);
  });

  it('has missed slots of many checks once, until the check runs again', () => {
    const filter = filterOf(21);
    const slots = [1, 2].map((n) => filter.wantsMissed(missed('check-0', START_MS + n)));
    expect(slots).toEqual([true, false]);
    expect(filter.wants(of(0))).toBe(false);
    expect(filter.wantsMissed(missed('check-0', START_MS + 3))).toBe(true);
  });
});

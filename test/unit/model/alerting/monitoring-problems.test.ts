import { describe, expect, it } from 'vitest';
import { isOutdated, PROBLEM_LIMITS } from '../../../../src/model/alerting/monitoring-problems.ts';

describe('a version', () => {
  it.each([
    ['0.1.9', '0.2.0', true],
    ['1.9.0', '2.0.0', true],
    ['0.9.0', '0.10.0', true],
    ['v1.2.0', '1.3.0', true],
    ['1.2.0', '1.2.9', false],
    ['1.3.0-rc.1', '1.3.0', false],
    ['1.3.0', '1.2.0', false],
    ['2.0.0', '1.9.0', false],
    ['dev', '1.2.0', false],
    ['0.1.0', 'dev', false],
  ])('%s beside a service of %s is outdated: %s', (version, than, isOld) => {
    expect(isOutdated(version, than)).toBe(isOld);
  });
});

it('no limit ends a problem that it begins', () => {
  const { clockMs, waitingMs, missedShare, diskShare, diskBytes } = PROBLEM_LIMITS;
  for (const limit of [clockMs, waitingMs, missedShare]) {
    expect(limit.ends).toBeLessThan(limit.begins);
  }
  for (const limit of [diskShare, diskBytes]) expect(limit.ends).toBeGreaterThan(limit.begins);
});

import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/model/alert.ts';
import { freshFor, type ParallelPlaces } from '../../../src/model/alert-places.ts';
import type { AlertRules } from '../../../src/model/alert-settings.ts';
import { type AlertState, afterRun, NEVER_RUN } from '../../../src/model/alert-state.ts';

const MINUTE_MS = 60_000;
const QUIET = 'NO_ALERT';

/** A check that several places run every minute. */
class Sentries {
  readonly #parallel: ParallelPlaces;
  readonly #rules: AlertRules;
  state: AlertState = NEVER_RUN;

  constructor(places: string, { runs = 1, percent = null as number | null } = {}) {
    const freshMs = freshFor(MINUTE_MS);
    this.#parallel = { places: places.split(''), freshMs, percent };
    this.#rules = {
      escalation: { by: 'runs', runs },
      reminders: { amount: 0, everyMs: MINUTE_MS },
      parallelPercent: percent,
    };
  }

  run(place: string, minute: number, condition: Condition): string {
    const slotMs = minute * MINUTE_MS;
    const scene = { rules: this.#rules, parallel: this.#parallel, isSilent: false, atMs: slotMs };
    const step = afterRun(this.state, { place, slotMs, condition }, scene);
    this.state = step?.state ?? this.state;
    return step?.alert ?? 'late';
  }
}

describe('places that run every slot', () => {
  it('fail with any of them, and recover with the last', () => {
    const sentries = new Sentries('ab');
    expect(sentries.run('a', 1, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe('ALERT_FAILURE');
    // That a is well in the next slot says nothing of b.
    expect(sentries.run('a', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 3, 'passing')).toBe('ALERT_RECOVERY');
  });

  it('count a slot once, in however many it fails', () => {
    const sentries = new Sentries('abc', { runs: 2 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('c', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('a', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });

  it('wait for one that retries while the others are ahead', () => {
    const sentries = new Sentries('ab', { runs: 2 });
    for (const minute of [1, 2, 3]) sentries.run('a', minute, 'passing');
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    for (const minute of [4, 5, 6]) sentries.run('a', minute, 'passing');
    expect(sentries.run('b', 4, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });

  it('take nothing from one that is older than its own last run, or than any run may take', () => {
    const sentries = new Sentries('ab');
    sentries.run('b', 5, 'passing');
    expect(sentries.run('b', 4, 'failing')).toBe('late');
    sentries.run('a', 100, 'passing');
    expect(sentries.run('b', 60, 'failing')).toBe('late');
    expect(sentries.run('b', 95, 'failing')).toBe('ALERT_FAILURE');
  });

  it('recover though one that failed has fallen silent', () => {
    const sentries = new Sentries('ab');
    sentries.run('b', 1, 'failing');
    expect(sentries.run('a', 12, 'passing')).toBe(QUIET);
    expect(sentries.run('a', 13, 'passing')).toBe('ALERT_RECOVERY');
  });

  it('take nothing from one that is none of them', () => {
    expect(new Sentries('ab').run('x', 1, 'failing')).toBe('late');
  });

  it('fail where so many percent do', () => {
    const sentries = new Sentries('abcd', { percent: 50 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'passing')).toBe(QUIET);
    expect(sentries.run('c', 1, 'failing')).toBe('ALERT_FAILURE');
    expect(sentries.run('d', 1, 'degraded')).toBe(QUIET);
    expect(sentries.run('a', 2, 'passing')).toBe('ALERT_FAILURE_DEGRADED');
    expect(sentries.run('c', 2, 'passing')).toBe('ALERT_DEGRADED_RECOVERY');
  });

  it('count a slot only where so many percent fail anew', () => {
    const sentries = new Sentries('abcd', { percent: 50, runs: 2 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('a', 2, 'failing')).toBe(QUIET);
    expect(sentries.run('c', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });
});

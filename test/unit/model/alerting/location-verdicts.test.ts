import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/model/alerting/alert.ts';
import type { AlertRules } from '../../../../src/model/alerting/alert-settings.ts';
import {
  type AlertState,
  afterRun,
  NEVER_RUN,
} from '../../../../src/model/alerting/alert-state-machine.ts';
import type { ParallelLocations } from '../../../../src/model/alerting/location-verdicts.ts';
import { freshFor } from '../../../../src/model/alerting/verdict-freshness.ts';

const MINUTE_MS = 60_000;
const QUIET = 'NO_ALERT';

/** A check that several locations run every minute. */
class Sentries {
  readonly #parallel: ParallelLocations;
  readonly #rules: AlertRules;
  state: AlertState = NEVER_RUN;

  constructor(locations: string, { runs = 1, percent = null as number | null } = {}) {
    const freshMs = freshFor(MINUTE_MS);
    this.#parallel = { locations: locations.split(''), freshMs, percent };
    this.#rules = {
      escalation: { by: 'runs', runs },
      reminders: { amount: 0, everyMs: MINUTE_MS },
      parallelPercent: percent,
    };
  }

  run(location: string, minute: number, condition: Condition): string {
    const slotMs = minute * MINUTE_MS;
    const context = {
      rules: this.#rules,
      parallel: this.#parallel,
      rotationLagMs: 0,
      isSilenced: false,
      atMs: slotMs,
    };
    const step = afterRun(this.state, { location, slotMs, condition }, context);
    this.state = step?.state ?? this.state;
    return step?.alert ?? 'late';
  }
}

describe('a check whose locations all run every slot', () => {
  it('fails with any location, and recovers with the last', () => {
    const sentries = new Sentries('ab');
    expect(sentries.run('a', 1, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe('ALERT_FAILURE');
    // A passed run of a in the next slot says nothing about b.
    expect(sentries.run('a', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 3, 'passing')).toBe('ALERT_RECOVERY');
  });

  it('counts a slot once, however many locations fail', () => {
    const sentries = new Sentries('abc', { runs: 2 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('c', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('a', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });

  it('waits for a location that retries while the others are ahead', () => {
    const sentries = new Sentries('ab', { runs: 2 });
    for (const minute of [1, 2, 3]) sentries.run('a', minute, 'passing');
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    for (const minute of [4, 5, 6]) sentries.run('a', minute, 'passing');
    expect(sentries.run('b', 4, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });

  it('ignores a run that is older than the last one of its location, or older than any run can be', () => {
    const sentries = new Sentries('ab');
    sentries.run('b', 5, 'passing');
    expect(sentries.run('b', 4, 'failing')).toBe('late');
    sentries.run('a', 100, 'passing');
    expect(sentries.run('b', 60, 'failing')).toBe('late');
    expect(sentries.run('b', 95, 'failing')).toBe('ALERT_FAILURE');
  });

  it('recovers although a location that failed has stopped reporting', () => {
    const sentries = new Sentries('ab');
    sentries.run('b', 1, 'failing');
    expect(sentries.run('a', 12, 'passing')).toBe(QUIET);
    expect(sentries.run('a', 13, 'passing')).toBe('ALERT_RECOVERY');
  });

  it('ignores a run of another location', () => {
    expect(new Sentries('ab').run('x', 1, 'failing')).toBe('late');
  });

  it('fails if the percentage of its locations fails', () => {
    const sentries = new Sentries('abcd', { percent: 50 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'passing')).toBe(QUIET);
    expect(sentries.run('c', 1, 'failing')).toBe('ALERT_FAILURE');
    expect(sentries.run('d', 1, 'degraded')).toBe(QUIET);
    expect(sentries.run('a', 2, 'passing')).toBe('ALERT_FAILURE_DEGRADED');
    expect(sentries.run('c', 2, 'passing')).toBe('ALERT_DEGRADED_RECOVERY');
  });

  it('counts a slot only if the percentage of its locations fails again', () => {
    const sentries = new Sentries('abcd', { percent: 50, runs: 2 });
    expect(sentries.run('a', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('b', 1, 'failing')).toBe(QUIET);
    expect(sentries.run('a', 2, 'failing')).toBe(QUIET);
    expect(sentries.run('c', 2, 'passing')).toBe(QUIET);
    expect(sentries.run('b', 2, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });
});

describe('a check whose locations rotate', () => {
  const rotating = (runs = 1) => {
    let state: AlertState = NEVER_RUN;
    const rules: AlertRules = {
      escalation: { by: 'runs', runs },
      reminders: { amount: 0, everyMs: MINUTE_MS },
      parallelPercent: null,
    };
    return {
      stateNow: () => state,
      run(location: string, minute: number, condition: Condition, own = rules): string {
        const slotMs = minute * MINUTE_MS;
        const rotationLagMs = freshFor(MINUTE_MS);
        const context = {
          rules: own,
          parallel: null,
          rotationLagMs,
          isSilenced: false,
          atMs: slotMs,
        };
        const step = afterRun(state, { location, slotMs, condition }, context);
        state = step?.state ?? state;
        return step?.alert ?? 'late';
      },
    };
  };

  it('includes every location, also one that retries while the others continue', () => {
    const { run } = rotating();
    expect(run('a', 2, 'passing')).toBe(QUIET);
    expect(run('b', 1, 'failing')).toBe('ALERT_FAILURE');
    expect(run('a', 4, 'passing')).toBe('ALERT_RECOVERY');
    expect(run('b', 3, 'failing')).toBe('ALERT_FAILURE');
  });

  it('does not end a problem by a run that is older than the one that reported it', () => {
    const { run, stateNow } = rotating();
    expect(run('a', 4, 'failing')).toBe('ALERT_FAILURE');
    expect(run('b', 3, 'passing')).toBe(QUIET);
    expect(run('c', 2, 'degraded')).toBe(QUIET);
    expect(stateNow().condition).toBe('failing');
    expect(run('b', 6, 'passing')).toBe('ALERT_RECOVERY');
  });

  it('ignores a run that is older than the last one of its location, or older than any run can be', () => {
    const { run } = rotating();
    run('b', 3, 'passing');
    expect(run('b', 1, 'failing')).toBe('late');
    run('a', 22, 'passing');
    expect(run('b', 10, 'failing')).toBe('late');
    expect(run('b', 11, 'failing')).toBe('ALERT_FAILURE');
  });

  it('starts no duration and no series of failures that a newer run has already ended', () => {
    const byTime: AlertRules = {
      escalation: { by: 'time', forMs: 5 * MINUTE_MS },
      reminders: { amount: 0, everyMs: MINUTE_MS },
      parallelPercent: null,
    };
    const timed = rotating();
    timed.run('a', 10, 'passing', byTime);
    expect(timed.run('b', 1, 'failing', byTime)).toBe(QUIET);
    expect(timed.run('a', 12, 'failing', byTime)).toBe(QUIET);
    expect(timed.stateNow().sinceMs).toBe(12 * MINUTE_MS);

    const { run } = rotating(2);
    expect(run('a', 2, 'passing')).toBe(QUIET);
    expect(run('b', 1, 'failing')).toBe(QUIET);
    expect(run('a', 4, 'failing')).toBe(QUIET);
    expect(run('b', 5, 'failing')).toBe('ALERT_FAILURE_REMAIN');
  });

  it('retains only verdicts that still count', () => {
    const { run, stateNow } = rotating();
    for (let minute = 1; minute <= 100; minute += 1) run(`location ${minute}`, minute, 'failing');
    expect(stateNow().verdicts).toHaveLength(12);
  });
});

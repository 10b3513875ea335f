import { describe, expect, it } from 'vitest';
import {
  ALERT_TYPES,
  type AlertType,
  CONDITIONS,
  type Condition,
} from '../../../../src/model/alerting/alert.ts';
import { type AlertSettings, alertRulesOf } from '../../../../src/model/alerting/alert-settings.ts';
import {
  type AlertContext,
  type AlertState,
  type AlertStep,
  afterRun,
  afterTime,
  NEVER_RUN,
} from '../../../../src/model/alerting/alert-state-machine.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);

type Given = { readonly [Key in keyof AlertSettings]?: AlertSettings[Key] | undefined };

const runs = (failedRunThreshold: number): Given => ({
  runBasedEscalation: { failedRunThreshold },
});
const minutes = (minutesFailingThreshold: 5 | 10 | 15 | 30): Given => ({
  escalationType: 'TIME_BASED',
  timeBasedEscalation: { minutesFailingThreshold },
});

/** One check that runs every minute in one location. */
class Sentry {
  readonly #settings: Given;
  readonly #isObservedOnce: boolean;
  state: AlertState = NEVER_RUN;
  dueMinute: number | null = null;
  minute = 0;

  constructor(settings: Given = {}, isObservedOnce = false) {
    this.#settings = settings;
    this.#isObservedOnce = isObservedOnce;
  }

  context(isSilenced: boolean, minute: number): AlertContext {
    const rules = alertRulesOf({ escalationType: 'RUN_BASED', ...this.#settings } as AlertSettings);
    return {
      rules,
      parallel: null,
      rotationLagMs: 0,
      isSilenced,
      isObservedOnce: this.#isObservedOnce,
      atMs: START_MS + minute * MINUTE_MS,
    };
  }

  /** The alert of a run, or `late`. */
  run(condition: Condition, isSilenced = false, minute = this.minute + 1): AlertType | 'late' {
    const slotMs = START_MS + minute * MINUTE_MS;
    const context = this.context(isSilenced, minute);
    const step = afterRun(this.state, { location: 'a', slotMs, condition }, context);
    if (step === null) return 'late';
    this.minute = minute;
    return this.#take(step);
  }

  all(...conditions: readonly Condition[]): readonly string[] {
    return conditions.map((condition) => this.run(condition));
  }

  /** The alert or reminder that is due by time alone. */
  wait(minute: number, isSilenced = false): string {
    const step = afterTime(this.state, this.context(isSilenced, minute));
    const alert = this.#take(step);
    return step.reminder === 0 ? alert : `${alert} ${step.reminder}`;
  }

  #take({ state, alert, dueAtMs }: AlertStep): AlertType {
    this.state = state;
    this.dueMinute = dueAtMs === null ? null : (dueAtMs - START_MS) / MINUTE_MS;
    return alert;
  }
}

const QUIET = 'NO_ALERT';

describe('the alert table with a threshold of one run', () => {
  it.each<[readonly Condition[], AlertType]>([
    [['passing', 'passing'], QUIET],
    [['passing', 'degraded'], 'ALERT_DEGRADED'],
    [['passing', 'failing'], 'ALERT_FAILURE'],
    [['degraded', 'degraded'], QUIET],
    [['degraded', 'passing'], 'ALERT_DEGRADED_RECOVERY'],
    [['degraded', 'failing'], 'ALERT_DEGRADED_FAILURE'],
    [['failing', 'failing'], QUIET],
    [['failing', 'degraded'], 'ALERT_FAILURE_DEGRADED'],
    [['failing', 'passing'], 'ALERT_RECOVERY'],
    [['failing', 'degraded', 'passing'], 'ALERT_DEGRADED_RECOVERY'],
    [['degraded', 'failing', 'passing'], 'ALERT_RECOVERY'],
    [['failing', 'degraded', 'failing'], 'ALERT_DEGRADED_FAILURE'],
    [['failing', 'passing', 'failing'], 'ALERT_FAILURE'],
  ])('gives after %j the alert %s', (conditions, alert) => {
    expect(new Sentry().all(...conditions).at(-1)).toBe(alert);
  });

  it('gives an alert for the very first run', () => {
    expect(new Sentry().run('failing')).toBe('ALERT_FAILURE');
    expect(new Sentry().run('degraded')).toBe('ALERT_DEGRADED');
  });
});

describe('an alert threshold in runs', () => {
  it.each([2, 3, 4, 5])('of %i is reached by as many runs in a row', (threshold) => {
    for (const condition of ['failing', 'degraded'] as const) {
      const sentry = new Sentry(runs(threshold));
      const before = Array.from({ length: threshold - 1 }, () => sentry.run(condition));
      expect(before).toEqual(before.map(() => QUIET));
      expect(sentry.run(condition)).toBe(
        condition === 'failing' ? 'ALERT_FAILURE_REMAIN' : 'ALERT_DEGRADED_REMAIN',
      );
      expect(sentry.run(condition)).toBe(QUIET);
      expect(sentry.run('passing')).toBe(
        condition === 'failing' ? 'ALERT_RECOVERY' : 'ALERT_DEGRADED_RECOVERY',
      );
    }
  });

  it('counts from zero after a passed run, which sends no alert', () => {
    const sentry = new Sentry(runs(3));
    expect(sentry.all('failing', 'failing', 'passing', 'failing', 'failing', 'failing')).toEqual([
      QUIET,
      QUIET,
      QUIET,
      QUIET,
      QUIET,
      'ALERT_FAILURE_REMAIN',
    ]);
    expect(new Sentry(runs(2)).all('degraded', 'passing')).toEqual([QUIET, QUIET]);
  });

  it('does not apply again between degraded and failing', () => {
    expect(new Sentry(runs(5)).all('degraded', 'failing', 'passing')).toEqual([
      QUIET,
      'ALERT_DEGRADED_FAILURE',
      'ALERT_RECOVERY',
    ]);
    expect(new Sentry(runs(5)).all('failing', 'degraded', 'degraded', 'passing')).toEqual([
      QUIET,
      'ALERT_FAILURE_DEGRADED',
      QUIET,
      'ALERT_DEGRADED_RECOVERY',
    ]);
  });
});

describe('an alert threshold in minutes', () => {
  it.each([5, 10, 15, 30] as const)('of %i is reached by a run', (threshold) => {
    const sentry = new Sentry(minutes(threshold));
    expect(sentry.run('failing', false, 1)).toBe(QUIET);
    expect(sentry.dueMinute).toBe(1 + threshold);
    expect(sentry.run('failing', false, threshold)).toBe(QUIET);
    expect(sentry.run('failing', false, threshold + 1)).toBe('ALERT_FAILURE_REMAIN');
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.run('passing')).toBe('ALERT_RECOVERY');
  });

  it('can be reached between two runs', () => {
    for (const condition of ['failing', 'degraded'] as const) {
      const sentry = new Sentry(minutes(10));
      sentry.run(condition, false, 1);
      expect(sentry.wait(10)).toBe(QUIET);
      expect(sentry.dueMinute).toBe(11);
      expect(sentry.wait(11)).toBe(
        condition === 'failing' ? 'ALERT_FAILURE_REMAIN' : 'ALERT_DEGRADED_REMAIN',
      );
      expect(sentry.wait(12)).toBe(QUIET);
      expect(sentry.run(condition, false, 13)).toBe(QUIET);
    }
  });

  it('is not reached by time alone if runs are counted', () => {
    const sentry = new Sentry(runs(2));
    sentry.run('failing');
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.wait(100)).toBe(QUIET);
  });
});

describe('alert reminders', () => {
  const reminding = (amount: 0 | 2 | 100_000): Given => ({ reminders: { amount, interval: 10 } });

  it('are sent at their interval while the problem lasts, up to the configured number', () => {
    const sentry = new Sentry(reminding(2));
    expect(sentry.run('failing', false, 1)).toBe('ALERT_FAILURE');
    expect(sentry.dueMinute).toBe(11);
    expect(sentry.wait(10)).toBe(QUIET);
    expect(sentry.wait(11)).toBe('ALERT_FAILURE_REMAIN 1');
    expect(sentry.run('failing', false, 12)).toBe(QUIET);
    expect(sentry.dueMinute).toBe(21);
    expect(sentry.wait(21)).toBe('ALERT_FAILURE_REMAIN 2');
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.wait(31)).toBe(QUIET);
    expect(sentry.run('passing', false, 32)).toBe('ALERT_RECOVERY');
  });

  it('are sent without end if 100000 are configured, and once after a time in which nothing was judged', () => {
    const sentry = new Sentry(reminding(100_000));
    sentry.run('degraded', false, 1);
    expect(sentry.wait(11)).toBe('ALERT_DEGRADED_REMAIN 1');
    expect(sentry.wait(500)).toBe('ALERT_DEGRADED_REMAIN 2');
    expect(sentry.dueMinute).toBe(510);
  });

  it('start again with a new alert, and end with the recovery', () => {
    const sentry = new Sentry(reminding(2));
    sentry.run('degraded', false, 1);
    sentry.wait(11);
    sentry.wait(21);
    expect(sentry.run('failing', false, 22)).toBe('ALERT_DEGRADED_FAILURE');
    expect(sentry.wait(32)).toBe('ALERT_FAILURE_REMAIN 1');
    sentry.run('passing', false, 33);
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.wait(42)).toBe(QUIET);
  });

  it('are sent only after the alert', () => {
    const sentry = new Sentry({ ...runs(2), ...reminding(2) });
    sentry.run('failing', false, 1);
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.wait(20)).toBe(QUIET);
    expect(sentry.run('failing', false, 21)).toBe('ALERT_FAILURE_REMAIN');
    expect(sentry.wait(31)).toBe('ALERT_FAILURE_REMAIN 1');
  });

  it('are skipped while alerts are silenced, and continue afterwards', () => {
    const sentry = new Sentry(reminding(2));
    sentry.run('failing', false, 1);
    expect(sentry.wait(11, true)).toBe(QUIET);
    expect(sentry.dueMinute).toBe(21);
    expect(sentry.wait(21)).toBe('ALERT_FAILURE_REMAIN 1');
  });
});

describe('silenced alerts', () => {
  it('are sent by the first run after the silence if a problem that began in it still lasts', () => {
    const sentry = new Sentry({ reminders: { amount: 5, interval: 1 } });
    expect(sentry.run('failing', true, 1)).toBe(QUIET);
    expect(sentry.dueMinute).toBeNull();
    expect(sentry.run('failing', true, 2)).toBe(QUIET);
    expect(sentry.run('failing', false, 3)).toBe('ALERT_FAILURE_REMAIN');
    expect(sentry.run('failing', false, 3)).toBe(QUIET);
    expect(sentry.wait(4)).toBe('ALERT_FAILURE_REMAIN 1');
    expect(sentry.run('passing', false, 5)).toBe('ALERT_RECOVERY');
  });

  it('are never sent if the problem began and ended in the silence', () => {
    const sentry = new Sentry();
    sentry.run('failing', true);
    sentry.run('passing', true);
    expect(sentry.all('passing', 'failing')).toEqual([QUIET, 'ALERT_FAILURE']);
  });

  it('are not sent if the first run after the silence no longer has the problem', () => {
    const sentry = new Sentry();
    sentry.run('failing', true);
    expect(sentry.run('passing')).toBe(QUIET);
  });

  it('are sent if the problem is a different one after the silence', () => {
    const eased = new Sentry();
    eased.run('failing', true);
    expect(eased.all('degraded', 'passing')).toEqual([
      'ALERT_FAILURE_DEGRADED',
      'ALERT_DEGRADED_RECOVERY',
    ]);
    const worse = new Sentry();
    worse.run('degraded', true);
    expect(worse.all('failing', 'passing')).toEqual(['ALERT_DEGRADED_FAILURE', 'ALERT_RECOVERY']);
  });

  it('are sent for a heartbeat within a minute after the silence, as no run shows that it still fails', () => {
    for (const settings of [runs(1), minutes(5)]) {
      const heartbeat = new Sentry(settings, true);
      expect(heartbeat.run('failing', true, 1)).toBe(QUIET);
      while ((heartbeat.dueMinute ?? 100) < 10) {
        expect(heartbeat.wait(heartbeat.dueMinute ?? 100, true)).toBe(QUIET);
      }
      expect(heartbeat.dueMinute).toBe(10);
      expect(heartbeat.wait(10)).toBe('ALERT_FAILURE_REMAIN');
      expect(heartbeat.run('passing', false, 11)).toBe('ALERT_RECOVERY');
    }
  });

  it('replace the first reminder after the silence if the problem got worse in it', () => {
    const sentry = new Sentry({ reminders: { amount: 5, interval: 2 } });
    sentry.run('degraded', false, 1);
    expect(sentry.run('failing', true, 2)).toBe(QUIET);
    expect(sentry.run('failing', true, 3)).toBe(QUIET);
    expect(sentry.dueMinute).toBe(3);
    expect(sentry.wait(3, true)).toBe(QUIET);
    expect(sentry.wait(5)).toBe('ALERT_DEGRADED_FAILURE');
    expect(sentry.wait(7)).toBe('ALERT_FAILURE_REMAIN 1');
  });

  it('include a recovery, which is not sent after the silence either', () => {
    const sentry = new Sentry();
    sentry.run('failing');
    expect(sentry.run('passing', true)).toBe(QUIET);
    expect(sentry.run('passing')).toBe(QUIET);
  });

  it('are sent by the next run after the silence if their threshold was reached in it', () => {
    const counted = new Sentry(runs(2));
    counted.run('failing');
    expect(counted.run('failing', true)).toBe(QUIET);
    expect(counted.run('failing')).toBe('ALERT_FAILURE_REMAIN');

    const timed = new Sentry(minutes(5));
    timed.run('failing', false, 1);
    expect(timed.wait(6, true)).toBe(QUIET);
    expect(timed.dueMinute).toBeNull();
    expect(timed.run('failing', true, 7)).toBe(QUIET);
    expect(timed.dueMinute).toBeNull();
    expect(timed.run('failing', false, 8)).toBe('ALERT_FAILURE_REMAIN');
  });

  it('are sent after the silence if the problem got worse in it', () => {
    const sentry = new Sentry();
    sentry.run('degraded');
    expect(sentry.run('failing', true)).toBe(QUIET);
    expect(sentry.all('failing', 'failing', 'passing')).toEqual([
      'ALERT_DEGRADED_FAILURE',
      QUIET,
      'ALERT_RECOVERY',
    ]);
  });

  it('are followed by a recovery from the condition that subscribers were notified of', () => {
    const sentry = new Sentry();
    sentry.run('degraded');
    expect(sentry.run('failing', true)).toBe(QUIET);
    expect(sentry.all('degraded', 'degraded')).toEqual([QUIET, QUIET]);
    sentry.run('failing', true);
    expect(sentry.run('passing')).toBe('ALERT_DEGRADED_RECOVERY');
  });
});

describe('late runs', () => {
  it('change no alert', () => {
    const sentry = new Sentry();
    sentry.run('passing', false, 5);
    expect(sentry.run('failing', false, 4)).toBe('late');
    sentry.run('failing', false, 6);
    expect(sentry.run('passing', false, 5)).toBe('late');
    expect(sentry.state).toMatchObject({ condition: 'failing', runs: 1 });
  });

  it('count once for the same slot, with the worst of them', () => {
    const sentry = new Sentry(runs(2));
    expect(sentry.run('passing', false, 1)).toBe(QUIET);
    expect(sentry.run('failing', false, 1)).toBe(QUIET);
    expect(sentry.run('failing', false, 1)).toBe(QUIET);
    expect(sentry.run('passing', false, 1)).toBe(QUIET);
    expect(sentry.run('failing', false, 2)).toBe('ALERT_FAILURE_REMAIN');
  });
});

it('every alert type except that of certificates comes from the alert table', () => {
  const seen = new Set<string>();
  for (const settings of [runs(1), runs(2)]) {
    for (const one of CONDITIONS) {
      for (const two of CONDITIONS) {
        for (const three of CONDITIONS) {
          for (const alert of new Sentry(settings).all(one, two, three)) seen.add(alert);
        }
      }
    }
  }
  expect(seen).toEqual(new Set(ALERT_TYPES.filter((type) => type !== 'ALERT_SSL')));
});

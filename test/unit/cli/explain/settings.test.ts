import { describe, expect, it } from 'vitest';
import { effectiveSettings } from '../../../../src/cli/explain/settings.ts';
import { checkSchema, type ShownGroup, type Subject } from '../../../../src/cli/explain/subject.ts';
import {
  type AlertSettings,
  alertSettingsSchema,
  wholeAlertSettings,
} from '../../../../src/model/alerting/alert-settings.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const settings = (fields: object): AlertSettings =>
  wholeAlertSettings(alertSettingsSchema.parse(fields));
const DEFAULTS = wholeAlertSettings(null);
const THREE_RUNS = settings({ runBasedEscalation: { failedRunThreshold: 3 } });
const IN_TIME = settings({
  escalationType: 'TIME_BASED',
  timeBasedEscalation: { minutesFailingThreshold: 10 },
  reminders: { amount: 100_000, interval: 15 },
});

const group = (fields: Partial<ShownGroup> = {}): ShownGroup => ({
  name: 'Shop',
  activated: true,
  muted: false,
  tags: [],
  privateLocations: null,
  alertSettings: null,
  useGlobalAlertSettings: true,
  ...fields,
});

function given(
  fields: object = {},
  inGroup: ShownGroup | null = null,
  alertSettings: Partial<Subject['alertSettings']> = {},
): ReadonlyMap<string, string> {
  const { frequencyOffset, retryStrategy, ...body } = checkOf('URL', { ...fields });
  const shown = {
    ...body,
    ...(frequencyOffset === null ? {} : { frequencyOffset }),
    ...(retryStrategy === undefined ? {} : { retryStrategy }),
  };
  const subject: Subject = {
    check: checkSchema.parse({ alertSettings: DEFAULTS, ...shown }),
    group: inGroup,
    alertSettings: { own: DEFAULTS, group: null, account: DEFAULTS, ...alertSettings },
  };
  const found = effectiveSettings(subject);
  return new Map(found.map(({ name, text, source }) => [name, `${text} (${source})`]));
}

describe('the settings in effect', () => {
  it('are the defaults of the type where the check names none', () => {
    expect(Object.fromEntries(given())).toEqual({
      activated: 'yes (default)',
      frequency: 'every 10 min, shifted by its id (default)',
      privateLocations: 'none (default)',
      doubleCheck: 'one retry at once, in another location if there is one (default)',
      runParallel: 'no (default)',
      shouldFail: 'no (default)',
      degradedResponseTime: '3000 ms (default)',
      maxResponseTime: '5000 ms (default)',
      tags: 'none (default)',
      muted: 'no (default)',
      alertSettings: 'after 1 failed run; no reminders (default)',
    });
  });

  it('are those of the check where it names others', () => {
    const found = given({
      activated: false,
      muted: true,
      frequency: 5,
      frequencyOffset: 7,
      runParallel: true,
      privateLocations: ['office', 'cellar'],
      maxResponseTime: null,
      tags: ['web'],
      retryStrategy: { type: 'FIXED', baseBackoffSeconds: 30, maxRetries: 3 },
      locations: ['eu-west-1'],
    });
    expect(found.get('activated')).toBe('no (check)');
    expect(found.get('muted')).toBe('yes (check)');
    expect(found.get('frequency')).toBe('every 5 min, shifted by 42 s (check)');
    const daily = given({ frequency: 1440, frequencyOffset: 7 });
    expect(daily.get('frequency')).toBe('every 1440 min, shifted by 7 h (check)');
    expect(found.get('runParallel')).toBe('yes (check)');
    expect(found.get('privateLocations')).toBe('office, cellar (check)');
    expect(found.get('locations')).toBe('eu-west-1 (no agent serves public locations) (check)');
    expect(found.get('maxResponseTime')).toBe('none (check)');
    expect(found.get('tags')).toBe('web (check)');
    expect(found.has('doubleCheck')).toBe(false);
    expect(found.get('retryStrategy')).toBe(
      'up to 3 retries, FIXED from 30 s, within 600 s, in the same location (check)',
    );
    expect(given({ doubleCheck: false }).get('doubleCheck')).toBe('no retries (check)');
  });

  it('are those of the group where it decides', () => {
    const other = { activated: false, muted: true, tags: ['shop'], privateLocations: ['cellar'] };
    const own = { privateLocations: ['office'], tags: ['web'] };
    const found = given(own, group(other));
    expect(found.get('activated')).toBe('no (group)');
    expect(found.get('muted')).toBe('yes (group)');
    expect(found.get('privateLocations')).toBe('cellar (group)');
    expect(found.get('tags')).toBe('web, shop (check and group)');
    expect(given(own, group()).get('privateLocations')).toBe('office (check)');
  });

  it('have the alert settings of the check, its group or the account, as the service judges', () => {
    const alerts = (...args: Parameters<typeof given>) => given(...args).get('alertSettings');
    const three = 'after 3 failed runs; no reminders';
    const timed = 'after failing for 10 min; a reminder every 15 min';
    const own = { useGlobalAlertSettings: false };
    expect(alerts({}, null, { account: IN_TIME })).toBe(`${timed} (account)`);
    expect(alerts(own, null, { own: THREE_RUNS, account: IN_TIME })).toBe(`${three} (check)`);
    expect(alerts(own, group(), { own: THREE_RUNS })).toBe(`${three} (check)`);
    const ofGroup = { own: DEFAULTS, group: THREE_RUNS, account: IN_TIME };
    expect(alerts(own, group(own), ofGroup)).toBe(`${three} (group)`);
    expect(alerts(own, group(), ofGroup)).toBe(`${timed} (account)`);
  });
});

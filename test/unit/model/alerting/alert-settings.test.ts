import { describe, expect, it } from 'vitest';
import {
  type AlertSettings,
  alertRulesOf,
  alertSettingsSchema,
  settingsInForce,
  wholeAlertSettings,
} from '../../../../src/model/alerting/alert-settings.ts';

const MINUTE_MS = 60_000;

function failedRuns(failedRunThreshold: number): AlertSettings {
  return { escalationType: 'RUN_BASED', runBasedEscalation: { failedRunThreshold } };
}

describe('the alert settings that apply', () => {
  const own = failedRuns(2);
  const group = failedRuns(3);
  const account = failedRuns(4);
  it.each([
    ["the account's for a check that uses them", {}, account],
    ["the check's own", { ownUsesGlobal: false }, own],
    ['nobody’s, where the check says nothing', { ownUsesGlobal: false, own: null }, null],
    [
      "the group's over the check's own",
      { ownUsesGlobal: false, group, groupUsesGlobal: false },
      group,
    ],
    ["the group's over the account's", { group, groupUsesGlobal: false }, group],
    ["the account's over the group's that uses them", { ownUsesGlobal: false, group }, account],
    [
      "the check's own where the group has none",
      { ownUsesGlobal: false, groupUsesGlobal: false },
      own,
    ],
  ])('%s', (_name, said, wanted) => {
    const all = { own, ownUsesGlobal: true, group: null, groupUsesGlobal: true, account, ...said };
    expect(settingsInForce(all)).toBe(wanted);
  });
});

describe('alert rules', () => {
  it('are by default one failed run and no reminder', () => {
    const rules = {
      escalation: { by: 'runs', runs: 1 },
      reminders: { amount: 0, everyMs: 5 * MINUTE_MS },
      parallelPercent: null,
    };
    expect(alertRulesOf(null)).toEqual(rules);
    expect(alertRulesOf(wholeAlertSettings(null))).toEqual(rules);
  });

  it('follow the settings', () => {
    const settings = alertSettingsSchema.parse({
      escalationType: 'TIME_BASED',
      runBasedEscalation: { failedRunThreshold: 5 },
      timeBasedEscalation: { minutesFailingThreshold: 15 },
      reminders: { amount: 100_000, interval: 30 },
      parallelRunFailureThreshold: { enabled: true, percentage: 62.5 },
    });
    expect(alertRulesOf(settings)).toEqual({
      escalation: { by: 'time', forMs: 15 * MINUTE_MS },
      reminders: { amount: 100_000, everyMs: 30 * MINUTE_MS },
      parallelPercent: 62.5,
    });
    const disabled = {
      ...settings,
      parallelRunFailureThreshold: { enabled: false, percentage: 50 },
    };
    expect(alertRulesOf(disabled).parallelPercent).toBeNull();
    expect(wholeAlertSettings(settings)).toEqual(settings);
  });
});

import { describe, expect, it } from 'vitest';
import {
  alertRulesOf,
  alertSettingsSchema,
  wholeAlertSettings,
} from '../../../../src/model/alerting/alert-settings.ts';

const MINUTE_MS = 60_000;

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

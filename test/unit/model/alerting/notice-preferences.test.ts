import { describe, expect, it } from 'vitest';
import { ALERT_TYPES, type AlertType } from '../../../../src/model/alerting/alert.ts';
import {
  wantsNotice,
  wantsProblem,
  wantsSilence,
} from '../../../../src/model/alerting/notice-preferences.ts';

const NOTHING = {
  sendFailure: false,
  sendRecovery: false,
  sendDegraded: false,
  sendLocationSilent: null,
  sslExpiry: false,
  sslExpiryThreshold: 14,
};

function wanted(
  preferences: Partial<typeof NOTHING>,
  sslDaysRemaining: number | null,
): AlertType[] {
  const channel = { ...NOTHING, ...preferences };
  return ALERT_TYPES.filter((alertType) => wantsNotice(channel, { alertType, sslDaysRemaining }));
}

describe('an alert channel', () => {
  it.each([
    [{}, []],
    [{ sendFailure: true }, ['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN', 'ALERT_DEGRADED_FAILURE']],
    [{ sendRecovery: true }, ['ALERT_RECOVERY', 'ALERT_DEGRADED_RECOVERY']],
    [{ sendDegraded: true }, ['ALERT_FAILURE_DEGRADED', 'ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN']],
    [{ sslExpiry: true }, ['ALERT_SSL']],
  ])('with the settings %j receives the events %j', (preferences, types) => {
    expect(wanted(preferences, 3)).toEqual(types);
  });

  it.each([
    [null, true, true],
    [null, false, false],
    [true, false, true],
    [false, true, false],
  ])(
    'with sendLocationSilent %s and sendFailure %s is notified of silent locations: %s',
    (sendLocationSilent, sendFailure, isNotified) => {
      expect(wantsSilence({ ...NOTHING, sendLocationSilent, sendFailure })).toBe(isNotified);
    },
  );

  it.each([
    [15, false],
    [14, true],
    [0, true],
    [-3, true],
    [null, false],
  ])(
    'with a threshold of 14 days is notified of a certificate with %s days: %s',
    (days, isNotified) => {
      expect(wanted({ sslExpiry: true }, days).length > 0).toBe(isNotified);
    },
  );

  it('is never notified of NO_ALERT', () => {
    const all = { sendFailure: true, sendRecovery: true, sendDegraded: true, sslExpiry: true };
    expect(wanted(all, 1)).toEqual(ALERT_TYPES.filter((type) => type !== 'NO_ALERT'));
  });

  it.each([
    [null, true, true],
    [null, false, false],
    [[], true, false],
    [['SLOTS_MISSED'], true, false],
    [['CHANNEL_FAILING'], false, true],
  ] as const)(
    'with sendMonitoringProblems %j and sendFailure %s is notified of a failing channel: %s',
    (listed, sendFailure, isNotified) => {
      const sendMonitoringProblems = listed === null ? null : [...listed];
      expect(wantsProblem({ sendMonitoringProblems, sendFailure }, 'CHANNEL_FAILING')).toBe(
        isNotified,
      );
    },
  );
});

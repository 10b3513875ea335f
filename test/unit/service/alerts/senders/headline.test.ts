import { describe, expect, it } from 'vitest';
import { ALERT_TYPES } from '../../../../../src/model/alerting/alert.ts';
import { sampleNotice } from '../../../../../src/service/alerts/delivery/sample-notice.ts';
import { headlineOf } from '../../../../../src/service/alerts/senders/headline.ts';

const NOTICE = sampleNotice({ alertId: 'a', atMs: 0 });

describe('the headline of a notice', () => {
  it('differs for each type of alert', () => {
    const lines = ALERT_TYPES.map((alertType) =>
      headlineOf({ ...NOTICE, alertType, sslDaysRemaining: 7 }),
    );
    expect(new Set(lines).size).toBe(ALERT_TYPES.length);
    expect(lines).toContain('Test (no real failure) has failed');
    expect(lines).toContain('The certificate of Test (no real failure) ends in 7 days');
  });

  it.each([
    [-1, 'in the past'],
    [0, 'within a day'],
    [1, 'in 1 day'],
    [null, 'soon'],
  ])('of a certificate with %s days says %s', (sslDaysRemaining, words) => {
    const line = headlineOf({ ...NOTICE, alertType: 'ALERT_SSL', sslDaysRemaining });
    expect(line).toBe(`The certificate of Test (no real failure) ends ${words}`);
  });

  it('of a silent location names the location, on one line', () => {
    const location = { id: 'l', slug: 'berlin', name: 'Berlin\r\nBcc: x', checks: 3 };
    expect(headlineOf({ ...NOTICE, location })).toBe(
      'Location Berlin Bcc: x is silent: its checks do not run',
    );
    expect(headlineOf({ ...NOTICE, alertType: 'ALERT_RECOVERY', location })).toBe(
      'Location Berlin Bcc: x is no longer silent',
    );
  });

  it('says which reminder it is', () => {
    expect(headlineOf({ ...NOTICE, reminder: 2 })).toBe(
      'Test (no real failure) has failed (reminder 2)',
    );
  });

  it('is one line for any name of the check', () => {
    const name = 'a\r\nBcc: x\u0000\u0085\u2028b\u202ec';
    const check = { ...NOTICE.check, name };
    expect(headlineOf({ ...NOTICE, check })).toBe('a Bcc: x b c has failed');
  });
});

import { describe, expect, it } from 'vitest';
import { ALERT_TYPES } from '../../../../../src/model/alerting/alert.ts';
import { sampleNotice } from '../../../../../src/service/alerts/delivery/sample-notice.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import { headlineOf, noticeFacts } from '../../../../../src/service/alerts/senders/headline.ts';

const NOTICE = sampleNotice({ alertId: 'a', atMs: 0 });

describe('the facts of a notice', () => {
  const factOf = (notice: AlertNotice, label: string) => new Map(noticeFacts(notice)).get(label);

  it('have times in the zone of the account, in UTC without one', () => {
    const { timeZone: _, ...earlier } = NOTICE;
    expect(factOf(earlier, 'Time')).toBe('1970-01-01T00:00:00.000Z');
    expect(factOf({ ...NOTICE, timeZone: 'Asia/Kathmandu' }, 'Time')).toBe(
      '1970-01-01T05:30:00.000+05:30 (Asia/Kathmandu)',
    );
    const location = { id: 'l', slug: 'berlin', name: 'Berlin', checks: 3 };
    const silent = { ...NOTICE, location, timeZone: 'Europe/Berlin' };
    expect(factOf(silent, 'Silent since')).toBe('1970-01-01T01:00:00.000+01:00 (Europe/Berlin)');
  });
});

describe('the facts of a problem', () => {
  const PROBLEM: AlertNotice = {
    ...NOTICE,
    startedAtMs: 600_000,
    sinceMs: 60_000,
    failure: { code: 'DNS_TIMEOUT', phase: 'dns', advice: 'Check the name server.' },
    lastPassing: { startedAtMs: 0, responseTime: 12.4, statusCode: '200' },
  };

  it('have since when it lasts, its code and phase, the last good run and what to try', () => {
    const facts = new Map(noticeFacts(PROBLEM));
    expect(facts.get('Since')).toBe('1970-01-01T00:01:00.000Z');
    expect(facts.get('Code')).toBe('DNS_TIMEOUT');
    expect(facts.get('Phase')).toBe('dns');
    expect(facts.get('Last passed')).toBe('1970-01-01T00:00:00.000Z: 12 ms, status 200');
    expect(facts.get('What to try')).toBe('Check the name server.');
  });

  it('name the checks that depend on the failing one, first those whose alerts wait', () => {
    const textOf = (dependents: AlertNotice['dependents']) =>
      new Map(noticeFacts({ ...PROBLEM, ...(dependents && { dependents }) })).get(
        'Depending on it',
      );
    expect(textOf(undefined)).toBeUndefined();
    expect(textOf({ total: 1, failing: 0, names: [] })).toBe(
      '1 check: alerts wait while this one fails',
    );
    expect(textOf({ total: 40, failing: 12, names: ['Cart', 'Shop\n'] })).toBe(
      '12 of 40 checks failing, alerts wait: Cart, Shop, 10 more',
    );
  });

  it('have at its end how long it lasted', () => {
    const facts = new Map(noticeFacts({ ...PROBLEM, alertType: 'ALERT_RECOVERY' }));
    expect(facts.get('Lasted')).toBe('9 min');
    expect(facts.has('Since')).toBe(false);
    const location = { id: 'l', slug: 'berlin', name: 'Berlin', checks: 3 };
    const silence = { ...NOTICE, alertType: 'ALERT_RECOVERY', location, atMs: 300_000 } as const;
    expect(new Map(noticeFacts(silence)).get('Lasted')).toBe('5 min');
  });
});

describe('the headline of a notice', () => {
  it('differs for each type of alert', () => {
    const lines = ALERT_TYPES.map((alertType) =>
      headlineOf({ ...NOTICE, alertType, sslDaysRemaining: 7 }),
    );
    expect(new Set(lines).size).toBe(ALERT_TYPES.length);
    expect(lines).toContain('Test (no real failure) has failed');
    expect(lines).toContain('The certificate of Test (no real failure) expires in 7 days');
  });

  it.each([
    [-1, 'has expired'],
    [0, 'expires within a day'],
    [1, 'expires in 1 day'],
    [null, 'expires soon'],
  ])('of a certificate with %s days says %s', (sslDaysRemaining, words) => {
    const line = headlineOf({ ...NOTICE, alertType: 'ALERT_SSL', sslDaysRemaining });
    expect(line).toBe(`The certificate of Test (no real failure) ${words}`);
  });

  it('of a silent location names the location, on one line', () => {
    const location = { id: 'l', slug: 'berlin', name: 'Berlin\r\nBcc: x', checks: 3 };
    expect(headlineOf({ ...NOTICE, location })).toBe(
      'Location Berlin Bcc: x is silent: its checks do not run',
    );
    expect(headlineOf({ ...NOTICE, alertType: 'ALERT_RECOVERY', location })).toBe(
      'Location Berlin Bcc: x is no longer silent (after less than a minute)',
    );
  });

  it('of a recovery says how long the problem lasted', () => {
    const end = { ...NOTICE, alertType: 'ALERT_RECOVERY', sinceMs: -3_900_000 } as const;
    expect(headlineOf(end)).toBe('Test (no real failure) has recovered (after 1 h 5 min)');
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

describe('the headline of an acknowledged or escalated alert', () => {
  it('says who acknowledged the alert, on one line whatever the name', () => {
    const by = { kind: 'channel', id: '7', name: 'Night\nshift' } as const;
    const taken: AlertNotice = { ...NOTICE, acknowledgement: { by, isUndone: false } };
    expect(headlineOf(taken)).toBe(
      'Night shift has acknowledged the alert of Test (no real failure)',
    );
    expect(headlineOf({ ...taken, acknowledgement: { by, isUndone: true } })).toBe(
      'Night shift has undone the acknowledgement of the alert of Test (no real failure)',
    );
  });

  it('says that nobody acknowledged an escalated alert', () => {
    const alertType = 'ALERT_FAILURE_REMAIN';
    expect(headlineOf({ ...NOTICE, alertType, escalatedAfterMinutes: 10 })).toBe(
      'Test (no real failure) is still failing (not acknowledged for 10 minutes)',
    );
  });
});

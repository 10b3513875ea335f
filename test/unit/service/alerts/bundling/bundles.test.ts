import { describe, expect, it } from 'vitest';
import {
  bundleKeyOf,
  groupKeyOf,
  storedKeyOf,
} from '../../../../../src/service/alerts/bundling/bundle-key.ts';
import { bundleNotice } from '../../../../../src/service/alerts/bundling/bundle-notice.ts';
import { sampleNotice } from '../../../../../src/service/alerts/delivery/sample-notice.ts';
import type { AlertNotice } from '../../../../../src/service/alerts/notice.ts';
import { headlineOf, noticeFacts } from '../../../../../src/service/alerts/senders/headline.ts';
import { messageFactsOf } from '../../../../../src/service/alerts/senders/message-facts.ts';
import { smsText } from '../../../../../src/service/alerts/senders/sms.ts';

const NOTICE = sampleNotice({ alertId: 'a', atMs: 0 });
const failed = (name: string): AlertNotice => ({ ...NOTICE, check: { ...NOTICE.check, name } });

describe('the notices that come as one message', () => {
  it.each([
    ['LOCATION', '["problems","LOCATION","test"]'],
    ['GROUP', '["problems","GROUP","Shop"]'],
    ['TAG', '["problems","TAG","eu"]'],
  ] as const)('have the same %s', (groupBy, stored) => {
    const check = { ...NOTICE.check, groupName: 'Shop', tags: ['eu', 'web'] };
    const key = groupKeyOf({ ...NOTICE, check }, groupBy);
    expect(key && storedKeyOf(key)).toBe(stored);
    expect(bundleKeyOf(stored)).toEqual(key);
  });

  it('are either problems, reminders or recoveries', () => {
    const kindOf = (fields: Partial<AlertNotice>) =>
      groupKeyOf({ ...NOTICE, ...fields }, 'LOCATION')?.kind;
    expect(kindOf({})).toBe('problems');
    expect(kindOf({ alertType: 'ALERT_FAILURE_REMAIN', reminder: 1 })).toBe('reminders');
    expect(kindOf({ alertType: 'ALERT_RECOVERY' })).toBe('recoveries');
  });

  it('are not those without a group or a tag, or of a certificate', () => {
    const check = { ...NOTICE.check, tags: [], groupName: null };
    expect(groupKeyOf({ ...NOTICE, check }, 'TAG')).toBeNull();
    expect(groupKeyOf({ ...NOTICE, check }, 'GROUP')).toBeNull();
    expect(groupKeyOf({ ...NOTICE, alertType: 'ALERT_SSL' }, 'LOCATION')).toBeNull();
  });
});

describe('a message for several notices', () => {
  const names = Array.from({ length: 19 }, (_, index) => `Check ${index + 2}`);
  const key = groupKeyOf(NOTICE, 'LOCATION');
  const notice = bundleNotice({ ...failed('Check 1'), link: 'https://v.test/alerts' }, key, {
    count: 1999,
    hasFailure: true,
    first: names.map(failed),
  });

  it('says how many there are, and lists the first 20', () => {
    expect(headlineOf(notice)).toBe('2000 checks of location test have problems');
    const list = new Map(noticeFacts(notice)).get('Checks')?.split('\n') ?? [];
    expect(list).toHaveLength(21);
    expect(list[0]).toBe('Check 1 has failed');
    expect(list[20]).toBe('… and 1980 more');
    expect(messageFactsOf(notice)).toMatchObject({
      severity: 'critical',
      error: list.join('\n'),
      link: 'https://v.test/alerts',
    });
    expect(smsText(messageFactsOf(notice), notice)).toMatch(
      /^2000 checks of location test have problems: Check 1 has failed; /,
    );
  });

  it('has the time of each in a digest', () => {
    const degraded = { ...NOTICE, alertType: 'ALERT_DEGRADED', timeZone: 'Asia/Tokyo' } as const;
    const carried = { count: 0, hasFailure: false, first: [] };
    const digest = bundleNotice(degraded, { kind: 'digest' }, carried);
    expect(headlineOf(digest)).toBe('Digest of degraded checks: 1 notification');
    expect(digest.bundle?.lines).toEqual([
      'Test (no real failure) is degraded, 1970-01-01T09:00:00.000+09:00 (Asia/Tokyo)',
    ]);
    expect(messageFactsOf(digest).severity).toBe('warning');
  });
});

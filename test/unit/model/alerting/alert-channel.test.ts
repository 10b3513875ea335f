import { describe, expect, it } from 'vitest';
import { ALERT_TYPES, type AlertType } from '../../../../src/model/alerting/alert.ts';
import {
  alertChannelSchema,
  certificateEndMs,
  isSameCertificateEnd,
  wantsNotice,
  wantsSilence,
} from '../../../../src/model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
} from '../../../../src/model/alerting/service-channels.ts';

const NOTHING = {
  sendFailure: false,
  sendRecovery: false,
  sendDegraded: false,
  sendLocationSilent: null,
  sslExpiry: false,
  sslExpiryThreshold: 14,
};

function wanted(wishes: Partial<typeof NOTHING>, sslDaysRemaining: number | null): AlertType[] {
  const channel = { ...NOTHING, ...wishes };
  return ALERT_TYPES.filter((alertType) => wantsNotice(channel, { alertType, sslDaysRemaining }));
}

describe('an alert channel', () => {
  it.each([
    [{}, []],
    [{ sendFailure: true }, ['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN', 'ALERT_DEGRADED_FAILURE']],
    [{ sendRecovery: true }, ['ALERT_RECOVERY', 'ALERT_DEGRADED_RECOVERY']],
    [{ sendDegraded: true }, ['ALERT_FAILURE_DEGRADED', 'ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN']],
    [{ sslExpiry: true }, ['ALERT_SSL']],
  ])('with the settings %j receives the events %j', (wishes, types) => {
    expect(wanted(wishes, 3)).toEqual(types);
  });

  it.each([
    [null, true, true],
    [null, false, false],
    [true, false, true],
    [false, true, false],
  ])(
    'with sendLocationSilent %s and sendFailure %s is notified of silent locations: %s',
    (sendLocationSilent, sendFailure, hears) => {
      expect(wantsSilence({ ...NOTHING, sendLocationSilent, sendFailure })).toBe(hears);
    },
  );

  it.each([
    [15, false],
    [14, true],
    [0, true],
    [-3, true],
    [null, false],
  ])('with a threshold of 14 days is notified of a certificate with %s days: %s', (days, hears) => {
    expect(wanted({ sslExpiry: true }, days).length > 0).toBe(hears);
  });

  it('is never notified of NO_ALERT', () => {
    const all = { sendFailure: true, sendRecovery: true, sendDegraded: true, sslExpiry: true };
    expect(wanted(all, 1)).toEqual(ALERT_TYPES.filter((type) => type !== 'NO_ALERT'));
  });

  it('recognizes a certificate by its expiry date', () => {
    const day = 86_400_000;
    const end = certificateEndMs(0, 14);
    for (const days of [0, 1, 5, 13]) {
      expect(isSameCertificateEnd(end, certificateEndMs(days * day + day - 1, 14 - days))).toBe(
        true,
      );
      expect(isSameCertificateEnd(end, certificateEndMs(days * day, 14 - days - 1))).toBe(true);
    }
    expect(isSameCertificateEnd(end, certificateEndMs(14 * day, 14))).toBe(false);
    expect(isSameCertificateEnd(end, certificateEndMs(day, 90))).toBe(false);
  });

  it.each([
    ['ops@example.com', true],
    ["o'ps+x=1@a.b.example.com", true],
    ['ops@localhost', true],
    ['ops@example.com\r\nBcc: all@example.com', false],
    ['Ops <ops@example.com>', false],
    ['a@example.com, b@example.com', false],
    ['"a b"@example.com', false],
    ['a..b@example.com', false],
    ['@example.com', false],
    ['ops@', false],
    ['ops@-example.com', false],
  ])('accepts the address %j: %s', (address, taken) => {
    const parsed = alertChannelSchema.safeParse({ type: 'EMAIL', config: { address } });
    expect(parsed.success).toBe(taken);
  });

  it.each(SERVICE_CHANNEL_TYPES)('of the type %s accepts its sample', (type) => {
    const { sample, label } = SERVICE_CHANNELS[type];
    const { type: _, config } = alertChannelSchema.parse({ type, config: sample });
    expect(config).toMatchObject({ ...sample, name: label });
  });

  it.each(SERVICE_CHANNEL_TYPES)('of the type %s groups unless it closes', (type) => {
    const { sample, closes } = SERVICE_CHANNELS[type];
    for (const fields of [{ groupBy: 'LOCATION' }, { degradedDigestHour: 9 }]) {
      const parsed = alertChannelSchema.safeParse({ type, config: sample, ...fields });
      expect(parsed.success).toBe(!closes);
    }
  });

  it.each([
    [{ url: 'https://user:secret@example.com/' }, 'config,url'],
    [{ url: 'ftp://example.com/' }, 'config,url'],
    [{ method: 'CONNECT' }, 'config,method'],
    [{ template: 'ä'.repeat(5121) }, 'config,template'],
    [{ headers: [{ key: 'X-Service-Signature', value: 'mine' }] }, 'config,headers,0,key'],
    [{ headers: [{ key: 'Content-Length', value: '1' }] }, 'config,headers,0,key'],
    [{ headers: [{ key: 'a b', value: '1' }] }, 'config,headers,0,key'],
    [{ headers: [{ key: 'a', value: '1\r\nb: 2' }] }, 'config,headers,0,value'],
    [{ headers: [{ key: 'a', value: '\u0100' }] }, 'config,headers,0,value'],
    [{ webhookSecret: '' }, 'config,webhookSecret'],
  ])('refuses a webhook with %j', (fields, path) => {
    const config = { name: 'Hook', url: 'https://example.com/', ...fields };
    const parsed = alertChannelSchema.safeParse({ type: 'WEBHOOK', config });
    expect(parsed.error?.issues.map((issue) => issue.path.join())).toEqual([path]);
  });
});

import { describe, expect, it } from 'vitest';
import { alertChannelSchema } from '../../../../src/model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
} from '../../../../src/model/alerting/service-channels.ts';

describe('an alert channel', () => {
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

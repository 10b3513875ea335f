import { describe, expect, it } from 'vitest';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { readOutgoingConfig } from '../../../../src/service/outgoing/outgoing-config.ts';

const FROM = { SMTP_FROM: 'Vedette <alerts@example.com>' };
const GATEWAY = { SMS_GATEWAY_URL: 'https://sms.example.com/send' };

function smtp(url: string) {
  return readOutgoingConfig({ ...FROM, SMTP_URL: url }).smtp;
}

describe('the configuration of delivery', () => {
  it('needs no variable', () => {
    expect(readOutgoingConfig({})).toMatchObject({ smtp: null, sms: null });
  });

  const deniedBy = (env: Record<string, string>, address: string) =>
    denyNetworks(readOutgoingConfig(env).deny).deniedBy(address);
  const LOCAL = { HOST: '127.0.0.1' };

  it.each<Record<string, string>>([
    {},
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '192.0.2.1' },
    { DATABASE_URL: 'postgres://db/vedette', ...LOCAL },
  ])('denies loopback and private networks with %j', (env) => {
    for (const address of [
      ...['127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1'],
      ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
      ...['fd00::1', 'fc00::1', 'fec0::1', '64:ff9b::10.0.0.1', '2002:c0a8:101::1', '::10.0.0.1'],
    ]) {
      expect([address, deniedBy(env, address)]).not.toContain(null);
    }
    for (const address of ['172.32.0.1', '203.0.113.1', '2001:db8::1', '64:ff9b::203.0.113.1']) {
      expect([address, deniedBy(env, address)]).toContain(null);
    }
  });

  it.each(['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])(
    'lets a service that only its own machine reaches, at %s, send there and nearby',
    (HOST) => {
      for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', 'fd00::1']) {
        expect([address, deniedBy({ HOST }, address)]).toContain(null);
      }
    },
  );

  it.each<Record<string, string>>([{}, LOCAL, { DATABASE_URL: 'postgres://db/vedette' }])(
    'shuts out where machines get their credentials with %j',
    (env) => {
      for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254']) {
        expect([address, deniedBy(env, address)]).not.toContain(null);
      }
    },
  );

  it('denies only the networks of DELIVERY_DENY', () => {
    const own = { DELIVERY_DENY: '10.0.0.0/8' };
    expect(deniedBy(own, '10.0.0.1')).toBe('10.0.0.0/8');
    for (const address of ['127.0.0.1', '192.168.1.1', '169.254.169.254']) {
      expect(deniedBy(own, address)).toBeNull();
    }
  });

  it.each([
    [
      'smtps://us%40er:p%2Fw@mail.example.com',
      { host: 'mail.example.com', port: 465, secure: true, auth: { user: 'us@er', pass: 'p/w' } },
    ],
    ['smtp://mail.example.com', { port: 587, secure: false, auth: null, requireTls: false }],
    // A password in the clear goes to this machine alone.
    ['smtp://u:p@mail.example.com:25', { port: 25, requireTls: true }],
    ['smtp://u:p@127.0.0.1:25', { host: '127.0.0.1', requireTls: false }],
    ['smtp://[::1]:2525/', { host: '::1', port: 2525 }],
  ])('reads %s', (url, expected) => {
    expect(smtp(url)).toMatchObject({
      ...expected,
      from: { name: 'Vedette', address: 'alerts@example.com' },
    });
  });

  it('reads the gateway and the networks', () => {
    const read = readOutgoingConfig({
      ...GATEWAY,
      SMS_GATEWAY_AUTHORIZATION: 'Bearer token',
      SMS_GATEWAY_CONTENT_TYPE: 'application/x-www-form-urlencoded',
      SMS_GATEWAY_BODY: 'To={{NUMBER}}&Body={{MESSAGE}}',
      DELIVERY_DENY: '10.0.0.0/8, ::1',
    });
    expect(read.sms).toEqual({
      url: 'https://sms.example.com/send',
      authorization: 'Bearer token',
      contentType: 'application/x-www-form-urlencoded',
      body: 'To={{NUMBER}}&Body={{MESSAGE}}',
    });
    expect(read.deny.map(({ text }) => text)).toEqual(['10.0.0.0/8', '::1']);
  });

  it.each([
    [{ SMTP_URL: 'smtp://mail.example.com' }, 'SMTP_URL is set and SMTP_FROM is not'],
    [FROM, 'SMTP_FROM is set and SMTP_URL is not'],
    [{ ...FROM, SMTP_URL: 'http://mail.example.com' }, 'SMTP_URL is malformed'],
    [{ ...FROM, SMTP_URL: 'smtp://user@mail.example.com' }, 'SMTP_URL is malformed'],
    [{ ...FROM, SMTP_URL: 'smtp://mail.example.com/?tls=no' }, 'SMTP_URL is malformed'],
    [{ ...FROM, SMTP_URL: 'smtp://u:%zz@mail.example.com' }, 'SMTP_URL is malformed'],
    [{ SMTP_URL: 'smtp://m', SMTP_FROM: 'alerts' }, 'SMTP_FROM is "alerts"'],
    [{ SMTP_URL: 'smtp://m', SMTP_FROM: 'a@b.c\r\nBcc: d@e.f' }, 'SMTP_FROM is'],
    [{ SMS_GATEWAY_BODY: 'x' }, 'SMS_GATEWAY_BODY is set and SMS_GATEWAY_URL is not'],
    [{ ...GATEWAY, SMS_GATEWAY_BODY: '{{> x}}' }, 'SMS_GATEWAY_BODY is'],
    [{ SMS_GATEWAY_URL: 'sms.example.com' }, 'SMS_GATEWAY_URL is malformed'],
    [{ ...GATEWAY, SMS_GATEWAY_AUTHORIZATION: 'a\nb' }, 'SMS_GATEWAY_AUTHORIZATION is malformed'],
    [{ DELIVERY_DENY: '10.0.0.0/40' }, 'DELIVERY_DENY'],
  ])('refuses %j', (env, message) => {
    expect(() => readOutgoingConfig(env)).toThrow(message);
  });
});

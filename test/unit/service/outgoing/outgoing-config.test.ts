import { describe, expect, it } from 'vitest';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { readOutgoingConfig } from '../../../../src/service/outgoing/outgoing-config.ts';
import { reachableAddresses } from '../../../../src/service/outgoing/reachable-addresses.ts';

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
    // An unencrypted password is sent to this machine only.
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

  it('reads the proxies, of which messages have no credentials', () => {
    const { proxies } = readOutgoingConfig({
      HTTPS_PROXY: 'http://a:b@upper.test:3128',
      https_proxy: 'http://u:p%40ss@lower.test:3128',
      no_proxy: '.internal',
    });
    expect(proxies.https).toMatchObject({ hostname: 'lower.test', port: 3128 });
    expect(proxies.http).toBeNull();
    expect(proxies.exemptions.map((matches) => matches('s3.internal', 443))).toEqual([true]);
    const broken = { HTTP_PROXY: 'socks://user:pa55@proxy.test' };
    expect(() => readOutgoingConfig(broken)).toThrow(
      'HTTP_PROXY contains "socks://********@proxy.test"',
    );
  });

  const allowance = (DELIVERY_ALLOW: string) =>
    reachableAddresses(readOutgoingConfig({ DELIVERY_ALLOW }));

  it.each([
    ['hooks.example', 'HOOKS.example.', true],
    ['hooks.example', 'a.hooks.example', false],
    ['hooks.example', 'hooks.example.evil.test', false],
    ['*.example', 'a.b.example', true],
    ['*.example', 'example', false],
    ['*.example', 'badexample', false],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['10.0.0.1', '10.0.0.1', false],
  ])('of the names in DELIVERY_ALLOW, %s allows %s: %s', (entry, name, isAllowed) => {
    expect(allowance(entry).allowsName(name)).toBe(isAllowed);
  });

  it('allows addresses and networks of DELIVERY_ALLOW', () => {
    const { guard } = allowance('10.0.0.5 fd00:1::/32, hooks.example');
    expect(['10.0.0.5', 'fd00:1::9'].map(guard.deniedBy)).toEqual([null, null]);
    expect(['10.0.0.6', 'fd00:2::9', '127.0.0.1'].map(guard.deniedBy)).not.toContain(null);
  });

  it('allows no IPv4 address by a network of IPv6 in DELIVERY_ALLOW', () => {
    const { guard } = allowance('::/0');
    expect(guard.deniedBy('fd00::1')).toBeNull();
    const mapped = [
      '::ffff:10.0.0.1',
      '::ffff:a00:1',
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
    ];
    expect(['10.0.0.1', ...mapped].map(guard.deniedBy)).not.toContain(null);
  });

  it.each([
    '*',
    'a*.example',
    '10.0.0.0/40',
    '10.0.0.256',
    'http://hooks.example',
    'a.example:443',
  ])('refuses %s in DELIVERY_ALLOW', (entry) => {
    expect(() => allowance(`10.0.0.1, ${entry}`)).toThrow('DELIVERY_ALLOW contains');
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

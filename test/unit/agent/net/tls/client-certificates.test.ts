import { describe, expect, it } from 'vitest';
import { clientCertificateFor } from '../../../../../src/agent/net/tls/client-certificates.ts';

const certificates = [
  '*.example.test',
  'www.Example.test',
  'plain.test',
  '*.local',
  '192.0.2.1',
  '*.0.2.1',
  '::1',
  '[2001:DB8:0:0::7]',
  '*.bücher.test',
].map((host) => ({ host, cert: '', key: '', ca: null, passphrase: null }));

describe('clientCertificateFor', () => {
  it.each([
    ['www.example.test', 'www.Example.test'],
    ['WWW.EXAMPLE.TEST', 'www.Example.test'],
    ['www.example.test.', 'www.Example.test'],
    ['api.example.test', '*.example.test'],
    ['API.example.test', '*.example.test'],
    // A star matches exactly one label.
    ['a.api.example.test', null],
    ['example.test', null],
    ['.example.test', null],
    ['plain.test', 'plain.test'],
    ['other.plain.test', null],
    ['notplain.test', null],
    ['printer.local', '*.local'],
    ['192.0.2.1', '192.0.2.1'],
    // An address has no labels.
    ['198.0.2.1', null],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['[2001:db8::7]', '[2001:DB8:0:0::7]'],
    ['2001:db8::8', null],
    ['a.xn--bcher-kva.test', '*.bücher.test'],
    ['', null],
  ])('finds for %j the one of %j', (hostname, host) => {
    expect(clientCertificateFor(hostname, certificates)?.host ?? null).toBe(host);
  });

  it('returns null without certificates', () => {
    expect(clientCertificateFor('example.test', [])).toBeNull();
  });
});

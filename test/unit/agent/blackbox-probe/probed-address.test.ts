import { describe, expect, it } from 'vitest';
import { addressHash, probedAddress } from '../../../../src/agent/blackbox-probe/probed-address.ts';
import { checkOf } from '../../../support/samples/checks.ts';

describe('the hash of an address', () => {
  it('is that of the IPv4 address which an IPv6 address maps', () => {
    expect(addressHash('::ffff:192.0.2.1')).toBe(addressHash('192.0.2.1'));
  });

  it('is its own where an IPv6 address only looks like a mapped one', () => {
    // ::ff00:1:2 ends with the bytes of 0.1.0.2.
    expect(addressHash('::ff00:1:2')).not.toBe(addressHash('0.1.0.2'));
    expect(addressHash('::ff:0:1:2')).not.toBe(addressHash('0.1.0.2'));
  });

  it('does not depend on how the address is written', () => {
    expect(addressHash('2001:db8:0:0::1')).toBe(addressHash('2001:DB8::1'));
    expect(addressHash('fe80::1%eth0')).toBe(addressHash('fe80::1'));
  });
});

describe('the address of a probe that reached nothing', () => {
  it.each(['[2001:db8::1]', '2001:db8::1'])('is the host %s of its check', (hostname) => {
    const check = checkOf('TCP', { request: { hostname, port: 443 } });
    expect(probedAddress(check, null)).toBe('2001:db8::1');
  });

  it('is not known of a name', () => {
    expect(probedAddress(checkOf('ICMP', { request: { hostname: 'a.test' } }), null)).toBeNull();
  });
});

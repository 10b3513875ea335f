import { expect, it } from 'vitest';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { embeddedIpv4 } from '../../../../src/runtime/net/embedded-ipv4.ts';

it.each([
  // RFC 6052 2.4, with the prefix for local use, and 2.1.
  ['64:ff9b::192.0.2.33', '192.0.2.33'],
  ['64:ff9b::c000:221', '192.0.2.33'],
  ['64:ff9b:1:c000:2:2100::', '192.0.2.33'],
  ['64:ff9b:1:1c0:0:221::', '192.0.2.33'],
  ['64:ff9b:1:122:c0:2:2100::', '192.0.2.33'],
  ['64:ff9b:1:fffe::192.0.2.33', '192.0.2.33'],
  ['::ffff:0:192.0.2.33', '192.0.2.33'],
  ['::192.0.2.33', '192.0.2.33'],
  ['2002:c000:221::1', '192.0.2.33'],
  ['2001:0:c000:221::', '192.0.2.33'],
  ['2001:0:1:2:3:4:3fff:fdde', '192.0.2.33'],
])('%s may lead to %s', (address, inside) => {
  expect(embeddedIpv4(address)).toContain(inside);
  const rule = { text: 'it', address: inside, prefixBits: 32 };
  expect(denyNetworks([rule]).deniedBy(address)).toBe('it');
});

it.each(['::', '::1', '2001:db8::c000:221', 'fe80::c000:221', '64:ff9b::', '64:ff9c::c000:221'])(
  '%s leads to no address of IPv4',
  (address) => {
    expect(embeddedIpv4(address)).toEqual([]);
    expect(
      denyNetworks([{ text: 'all', address: '0.0.0.0', prefixBits: 0 }]).deniedBy(address),
    ).toBeNull();
  },
);

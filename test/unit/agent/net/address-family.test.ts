import { describe, expect, it } from 'vitest';
import { reachesOut } from '../../../../src/agent/net/address-family.ts';

describe('reachesOut', () => {
  it.each([
    ['2001:db8::1', 'IPv6', false, true],
    ['fd00::2', 'IPv6', false, true],
    ['fe80::1', 'IPv6', false, false],
    ['FEBF::1', 'IPv6', false, false],
    ['fec0::1', 'IPv6', false, true],
    ['::1', 'IPv6', true, false],
    ['192.0.2.2', 'IPv4', false, false],
  ])('judges %s', (address, family, internal, expected) => {
    expect(reachesOut({ address, family, internal })).toBe(expected);
  });
});

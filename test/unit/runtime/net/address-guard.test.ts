import { describe, expect, it } from 'vitest';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';

function denied(address: string, prefixBits: number, asked: string): boolean {
  const text = `${address}/${prefixBits}`;
  const network = denyNetworks([{ text, address, prefixBits }]).deniedBy(asked);
  expect([null, text]).toContain(network);
  return network !== null;
}

describe('denyNetworks', () => {
  it.each([
    ['10.0.0.0', 8, '10.1.2.3'],
    ['10.0.0.0', 8, '::ffff:10.1.2.3'],
    ['10.0.0.0', 8, '::ffff:a01:203'],
    ['::ffff:10.0.0.0', 104, '10.1.2.3'],
    ['fd00::', 8, 'fd12::1'],
    ['fe80::', 10, 'fe80::1%eth0'],
    ['::', 0, '2001:db8::1'],
    ['::', 0, '::ffff:10.1.2.3'],
  ])('%s/%i shuts out %s', (address, prefixBits, asked) => {
    expect(denied(address, prefixBits, asked)).toBe(true);
  });

  it.each([
    ['10.0.0.0', 8, '11.0.0.1'],
    ['10.0.0.0', 8, 'a00::1'],
    ['fd00::', 8, 'fe00::1'],
    // All of IPv6, and nothing of IPv4.
    ['::', 0, '192.0.2.1'],
    ['::', 64, '192.0.2.1'],
  ])('%s/%i lets %s through', (address, prefixBits, asked) => {
    expect(denied(address, prefixBits, asked)).toBe(false);
  });

  it.each([
    ['10.1.2.3/32', '10.1.2.3', null],
    ['10.1.2.3/32', '::ffff:10.1.2.3', null],
    ['10.1.2.3/32', '64:ff9b::10.1.2.3', null],
    ['10.1.2.3/32', '10.1.2.4', '10.0.0.0/8'],
    ['10.1.2.3/32', '64:ff9b::10.1.2.4', '10.0.0.0/8'],
    // Teredo: the server is allowed, the client 10.1.2.4 is not.
    ['10.1.2.3/32', '2001:0:a01:203::f5fe:fdfb', '10.0.0.0/8'],
    ['64:ff9b::/96', '64:ff9b::10.1.2.4', null],
    ['::/0', '10.1.2.3', '10.0.0.0/8'],
    ['::/0', '::ffff:10.1.2.3', '10.0.0.0/8'],
    ['::/0', '0:0:0:0:0:ffff:a01:203%eth0', '10.0.0.0/8'],
    ['::/64', '::ffff:a01:203', '10.0.0.0/8'],
    ['::ffff:0:0/96', '::ffff:10.1.2.3', null],
    ['::ffff:10.1.2.0/120', '10.1.2.3', null],
    ['::ffff:10.1.2.0/120', '::ffff:10.1.3.3', '10.0.0.0/8'],
    ['192.0.2.0/24', '10.1.2.3', '10.0.0.0/8'],
  ])('with %s allowed inside 10.0.0.0/8, %s is denied by %s', (text, asked, by) => {
    const [address = '', bits] = text.split('/');
    const denied = { text: '10.0.0.0/8', address: '10.0.0.0', prefixBits: 8 };
    const allowed = { text, address, prefixBits: Number(bits) };
    expect(denyNetworks([denied], [allowed]).deniedBy(asked)).toBe(by);
  });
});

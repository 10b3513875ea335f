import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressBytes,
  addressText,
  destinationOf,
} from '../../../../../src/agent/probes/icmp/address-bytes.ts';

describe('addressBytes', () => {
  it.each([
    ['192.0.2.1', 'c0000201'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:DB8::A:0:1', '20010db8000000000000000a00000001'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['fd00::', 'fd000000000000000000000000000000'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
    ['64:ff9b::192.0.2.1', '0064ff9b0000000000000000c0000201'],
  ])('%s is %s', (address, hex) => {
    expect(addressBytes(address)?.toString('hex')).toBe(hex);
  });

  it.each(['', 'example.com', '1.2.3', '1:2:3', ':::', 'fe80::1%eth0'])(
    'leaves out %j',
    (address) => {
      expect(addressBytes(address)).toBeNull();
    },
  );

  it('is the inverse of addressText for every address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const bytes = addressBytes(address) ?? Buffer.alloc(0);
        expect(addressBytes(addressText(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe('destinationOf', () => {
  it('has the text and no scope without a zone', () => {
    expect(destinationOf('::1')).toEqual({
      address: '::1',
      bytes: Buffer.from('00000000000000000000000000000001', 'hex'),
      scopeId: 0,
    });
  });

  it('accepts the number of a zone', () => {
    expect(destinationOf('fe80::1%7')?.scopeId).toBe(7);
  });

  it('accepts the name of an interface with a link-local address as the zone', () => {
    for (const [name, addresses = []] of Object.entries(networkInterfaces())) {
      const scopeId = addresses.find(({ family }) => family === 'IPv6')?.scopeid;
      expect(destinationOf(`fe80::1%${name}`)?.scopeId ?? null).toBe(scopeId ?? null);
    }
  });

  it('is null for an interface that does not exist', () => {
    expect(destinationOf('fe80::1%no-such-interface')).toBeNull();
  });
});

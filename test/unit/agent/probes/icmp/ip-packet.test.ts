import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeIpPacket } from '../../../../../src/agent/probes/icmp/ip-packet.ts';

const IPV4 = Buffer.from('45000020000040003d0100000a4d00020a4d0001' + 'aabbccdd', 'hex');
const IPV6 = Buffer.from(
  '6000000000043a3d' +
    'fd770000000000000000000000000002' +
    'fd770000000000000000000000000001' +
    'aabbccdd',
  'hex',
);

describe('decodeIpPacket', () => {
  it('reads an IPv4 packet', () => {
    expect(decodeIpPacket(4, IPV4)).toEqual({
      source: Buffer.from([10, 77, 0, 2]),
      destination: Buffer.from([10, 77, 0, 1]),
      ttl: 61,
      payload: Buffer.from('aabbccdd', 'hex'),
    });
  });

  it('finds the payload after IPv4 options', () => {
    const withOptions = Buffer.concat([IPV4.subarray(0, 20), Buffer.alloc(4), IPV4.subarray(20)]);
    withOptions[0] = 0x46;
    expect(decodeIpPacket(4, withOptions)?.payload.toString('hex')).toBe('aabbccdd');
  });

  it('reads an IPv6 packet', () => {
    const packet = decodeIpPacket(6, IPV6);
    expect(packet?.ttl).toBe(61);
    expect(packet?.destination.at(-1)).toBe(1);
    expect(packet?.source.at(-1)).toBe(2);
    expect(packet?.payload.toString('hex')).toBe('aabbccdd');
  });

  it.each([
    ['the other family', 4, IPV6],
    [
      'another protocol',
      4,
      Buffer.concat([IPV4.subarray(0, 9), Buffer.from([17]), IPV4.subarray(10)]),
    ],
    ['a header that is cut', 4, IPV4.subarray(0, 19)],
    [
      'a header that says it is longer than the packet',
      4,
      Buffer.concat([Buffer.from([0x4f]), IPV4.subarray(1)]),
    ],
    [
      'a header that says it is shorter than a header',
      4,
      Buffer.concat([Buffer.from([0x41]), IPV4.subarray(1)]),
    ],
    ['IPv6 that is cut', 6, IPV6.subarray(0, 39)],
  ] as const)('leaves out %s', (_what, family, bytes) => {
    expect(decodeIpPacket(family, bytes)).toBeNull();
  });

  it('never throws, whatever the network sends', () => {
    fc.assert(
      fc.property(fc.constantFrom(4, 6), fc.uint8Array({ maxLength: 100 }), (family, bytes) => {
        decodeIpPacket(family, Buffer.from(bytes));
      }),
    );
  });
});

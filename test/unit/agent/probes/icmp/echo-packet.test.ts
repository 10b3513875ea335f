import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checksum,
  decodeEchoReply,
  decodeQuotedRequest,
  ECHO_DATA_BYTES,
  echoData,
  encodeEchoRequest,
  unreachableReason,
} from '../../../../../src/agent/probes/icmp/echo-packet.ts';

const TOKEN = Buffer.from('0102030405060708', 'hex');

describe('an echo request', () => {
  it('has 56 data bytes that start with the token', () => {
    const data = echoData(TOKEN);
    expect(data).toHaveLength(ECHO_DATA_BYTES);
    expect(data.subarray(0, 8)).toEqual(TOKEN);
    expect(data.subarray(8, 12)).toEqual(Buffer.from([8, 9, 10, 11]));
  });

  it('has the layout of RFC 792, with its checksum', () => {
    const header = { identifier: 0x1234, sequence: 0x0102 };
    const packet = encodeEchoRequest(4, header, Buffer.from([0xab]));
    expect(packet.toString('hex')).toBe('080039c912340102ab');
  });

  it('has the layout of RFC 4443 and leaves the checksum to the kernel for IPv6', () => {
    const header = { identifier: 0x1234, sequence: 0x0102 };
    const packet = encodeEchoRequest(6, header, Buffer.from([0xab]));
    expect(packet.toString('hex')).toBe('8000000012340102ab');
  });

  it('sums to zero with its checksum, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff),
        fc.nat(0xffff),
        fc.uint8Array({ maxLength: 80 }),
        (identifier, sequence, data) => {
          expect(checksum(encodeEchoRequest(4, { identifier, sequence }, data))).toBe(0);
        },
      ),
    );
  });
});

describe('checksum', () => {
  it("is the complement of RFC 1071's example sum", () => {
    const words = Buffer.from('0001f203f4f5f6f7', 'hex');
    expect(checksum(words)).toBe(~0xddf2 & 0xffff);
  });
});

describe('decoding', () => {
  const reply = (type: number, code = 0): Buffer =>
    Buffer.from([type, code, 0, 0, 0x12, 0x34, 0x01, 0x02, 0xaa, 0xbb]);

  it.each([
    [4, 0],
    [6, 129],
  ] as const)('takes an IPv%i echo reply of type %i', (family, type) => {
    expect(decodeEchoReply(family, reply(type))).toEqual({
      identifier: 0x1234,
      sequence: 0x0102,
      data: Buffer.from([0xaa, 0xbb]),
    });
  });

  it.each([
    ['a request, as a raw socket sees its own on loopback', 4, reply(8)],
    ['the other family’s type', 4, reply(129)],
    ['a code that replies do not have', 6, reply(129, 1)],
    ['a message cut short', 4, reply(0).subarray(0, 7)],
    ['nothing', 6, Buffer.alloc(0)],
  ] as const)('leaves out %s', (_what, family, message) => {
    expect(decodeEchoReply(family, message)).toBeNull();
  });

  it('reads a quoted request that was cut after its header', () => {
    const quoted = encodeEchoRequest(4, { identifier: 1, sequence: 515 }, echoData(TOKEN));
    expect(decodeQuotedRequest(4, quoted.subarray(0, 8))).toEqual({
      identifier: 1,
      sequence: 515,
      data: Buffer.alloc(0),
    });
  });

  it('never throws, whatever the network sends', () => {
    fc.assert(
      fc.property(fc.constantFrom(4, 6), fc.uint8Array({ maxLength: 100 }), (family, bytes) => {
        decodeEchoReply(family, Buffer.from(bytes));
        decodeQuotedRequest(family, Buffer.from(bytes));
      }),
    );
  });
});

describe('unreachableReason', () => {
  it.each([
    [4, 3, 1, 'host unreachable'],
    [4, 3, 99, 'destination unreachable'],
    [4, 11, 0, 'time to live exceeded on the way'],
    [6, 1, 0, 'no route to destination'],
    [6, 3, 0, 'hop limit exceeded on the way'],
    [4, 5, 0, null],
    [4, 0, 0, null],
    [6, 129, 0, null],
  ] as const)('IPv%i type %i code %i: %s', (family, type, code, reason) => {
    expect(unreachableReason(family, type, code)).toBe(reason);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseControl } from '../../../../../src/agent/probes/icmp/message-receiver.ts';

/** One struct cmsghdr with its body, padded as by the kernel. */
function cmsg(level: number, type: number, body: Buffer): Buffer {
  const length = 16 + body.length;
  const bytes = Buffer.alloc(Math.ceil(length / 8) * 8);
  bytes.writeUInt32LE(length, 0);
  bytes.writeInt32LE(level, 8);
  bytes.writeInt32LE(type, 12);
  bytes.set(body, 16);
  return bytes;
}

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

const stamp = (seconds: bigint, nanos: bigint): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64LE(seconds, 0);
  bytes.writeBigInt64LE(nanos, 8);
  return bytes;
};

const NOTHING = { ttl: null, stamp: null, error: null };

describe('parseControl', () => {
  it('reads the stamp and the time to live of an IPv4 reply', () => {
    const control = Buffer.concat([
      cmsg(1, 35, stamp(1_800_000_000n, 999_999_999n)),
      cmsg(0, 2, int(61)),
    ]);
    expect(parseControl(control)).toEqual({
      ttl: 61,
      stamp: { seconds: 1_800_000_000, nanos: 999_999_999 },
      error: null,
    });
  });

  it('reads the hop limit of an IPv6 reply', () => {
    expect(parseControl(cmsg(41, 52, int(255)))).toEqual({ ...NOTHING, ttl: 255 });
  });

  it('reads who sent an ICMP error, for either family', () => {
    const ipv4 = Buffer.from([
      113, 0, 0, 0, 2, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0,
      0, 0,
    ]);
    expect(parseControl(cmsg(0, 11, ipv4)).error).toEqual({
      fromNetwork: true,
      type: 3,
      code: 1,
      offender: Buffer.from([10, 0, 0, 9]),
    });
    const ipv6 = Buffer.alloc(16 + 28);
    ipv6.set([113, 0, 0, 0, 3, 1, 3], 0);
    ipv6.writeUInt16LE(10, 16);
    ipv6.writeUInt8(0xfd, 24);
    ipv6.writeUInt8(9, 39);
    const { error } = parseControl(cmsg(41, 25, ipv6));
    expect(error).toMatchObject({ fromNetwork: true, type: 1, code: 3 });
    expect(error?.offender?.toString('hex')).toBe('fd000000000000000000000000000009');
  });

  it("distinguishes this host's own errors from the network's, and an offender that is not known", () => {
    const local = Buffer.alloc(16 + 16);
    local.writeUInt8(1, 4);
    expect(parseControl(cmsg(0, 11, local)).error).toEqual({
      fromNetwork: false,
      type: 0,
      code: 0,
      offender: null,
    });
  });

  it('ignores unknown and cut messages', () => {
    const unknown = cmsg(1, 99, int(7));
    expect(parseControl(Buffer.concat([unknown, cmsg(0, 2, int(3))]))).toEqual({
      ...NOTHING,
      ttl: 3,
    });
    expect(parseControl(cmsg(0, 2, int(3)).subarray(0, 18))).toEqual(NOTHING);
    expect(parseControl(Buffer.alloc(64))).toEqual(NOTHING);
  });

  it('reads no further than the kernel wrote', () => {
    const control = Buffer.concat([cmsg(0, 2, int(3)), cmsg(1, 35, stamp(1n, 2n))]);
    expect(parseControl(control, 24)).toEqual({ ...NOTHING, ttl: 3 });
    expect(parseControl(control, 40)).toEqual({ ...NOTHING, ttl: 3 });
    expect(parseControl(control, 0)).toEqual(NOTHING);
  });

  it('ends for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        parseControl(Buffer.from(bytes));
      }),
    );
  });
});

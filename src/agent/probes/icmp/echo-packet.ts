import type { Family } from '../../net/resolver.ts';

/**
 * Bytes after the ICMP header: the usual 56, which make 84 bytes of IPv4 (src/model/README.md,
 * "ICMP: `request`").
 */
export const ECHO_DATA_BYTES = 56;
export const TOKEN_BYTES = 8;
const HEADER_BYTES = 8;

/** RFC 792 and RFC 4443 section 4: message types of echo requests and replies. */
const REQUEST_TYPE = { 4: 8, 6: 128 } as const;
const REPLY_TYPE = { 4: 0, 6: 129 } as const;

/**
 * The reason for messages, if an ICMP error of this type means that a packet was not delivered
 * (unreachable, time exceeded); null for every other type.
 */
export function unreachableReason(family: Family, type: number, code: number): string | null {
  return (family === 4 ? IPV4_REASONS : IPV6_REASONS)[type]?.[code] ?? otherReason(family, type);
}

const IPV4_REASONS: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  3: {
    0: 'network unreachable',
    1: 'host unreachable',
    2: 'protocol unreachable',
    4: 'fragmentation needed',
    9: 'network administratively prohibited',
    10: 'host administratively prohibited',
    13: 'communication administratively prohibited',
  },
  11: { 0: 'time to live exceeded on the way' },
};

const IPV6_REASONS: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  1: {
    0: 'no route to destination',
    1: 'communication administratively prohibited',
    2: 'beyond scope of source address',
    3: 'address unreachable',
    5: 'source address failed ingress or egress policy',
    6: 'reject route to destination',
  },
  3: { 0: 'hop limit exceeded on the way' },
};

function otherReason(family: Family, type: number): string | null {
  const unreachable = family === 4 ? 3 : 1;
  const exceeded = family === 4 ? 11 : 3;
  if (type === unreachable) return 'destination unreachable';
  return type === exceeded ? 'time exceeded' : null;
}

/** 56 bytes: the token first, which identifies our replies, then a fixed pattern. */
export function echoData(token: Uint8Array): Buffer {
  const data = Buffer.alloc(ECHO_DATA_BYTES);
  for (let index = TOKEN_BYTES; index < ECHO_DATA_BYTES; index += 1) data[index] = index;
  data.set(token.subarray(0, TOKEN_BYTES));
  return data;
}

export interface EchoHeader {
  readonly identifier: number;
  readonly sequence: number;
}

/** An echo request with its checksum in place (RFC 792; the kernel sets IPv6's, RFC 3542 3.1). */
export function encodeEchoRequest(
  family: Family,
  { identifier, sequence }: EchoHeader,
  data: Uint8Array,
): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + data.length);
  packet.writeUInt8(REQUEST_TYPE[family], 0);
  packet.writeUInt16BE(identifier, 4);
  packet.writeUInt16BE(sequence, 6);
  packet.set(data, HEADER_BYTES);
  if (family === 4) packet.writeUInt16BE(checksum(packet), 2);
  return packet;
}

export interface EchoMessage extends EchoHeader {
  /** May be incomplete: an error message may quote a request only in part. */
  readonly data: Buffer;
}

/** null if the message is no echo reply of the family. */
export function decodeEchoReply(family: Family, message: Buffer): EchoMessage | null {
  return decodeEcho(REPLY_TYPE[family], message);
}

/** Our request that an error message quotes; null if it quotes something else. */
export function decodeQuotedRequest(family: Family, quoted: Buffer): EchoMessage | null {
  return decodeEcho(REQUEST_TYPE[family], quoted);
}

function decodeEcho(type: number, message: Buffer): EchoMessage | null {
  if (message.length < HEADER_BYTES || message[0] !== type || message[1] !== 0) return null;
  return {
    identifier: message.readUInt16BE(4),
    sequence: message.readUInt16BE(6),
    data: message.subarray(HEADER_BYTES),
  };
}

/** RFC 1071: the ones' complement of the ones' complement sum of all 16-bit words. */
export function checksum(packet: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < packet.length; at += 2) {
    sum += ((packet[at] ?? 0) << 8) + (packet[at + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

import type { Family } from '../../net/resolver.ts';

/** Used fields of an IP header: of a received packet (IPv4), or of one that an error quotes. */
export interface IpPacket {
  readonly source: Buffer;
  readonly destination: Buffer;
  /** IPv4's time to live, IPv6's hop limit. */
  readonly ttl: number;
  readonly payload: Buffer;
}

const ICMP = { 4: 1, 6: 58 } as const;
const IPV6_HEADER_BYTES = 40;
const IPV4_HEADER_BYTES = 20;

/** null if the bytes are no IP packet of the family that has ICMP right behind its header. */
export function decodeIpPacket(family: Family, packet: Buffer): IpPacket | null {
  return family === 4 ? decodeIpv4(packet) : decodeIpv6(packet);
}

/** RFC 791 3.1. */
function decodeIpv4(packet: Buffer): IpPacket | null {
  if (packet.length < IPV4_HEADER_BYTES) return null;
  const first = packet.readUInt8(0);
  const headerBytes = (first & 0x0f) * 4;
  if (first >> 4 !== 4 || headerBytes < IPV4_HEADER_BYTES || packet.length < headerBytes)
    return null;
  if (packet.readUInt8(9) !== ICMP[4]) return null;
  return {
    source: packet.subarray(12, 16),
    destination: packet.subarray(16, 20),
    ttl: packet.readUInt8(8),
    payload: packet.subarray(headerBytes),
  };
}

/** RFC 8200 3; our own requests have no extension headers, so quoted ones have none either. */
function decodeIpv6(packet: Buffer): IpPacket | null {
  if (packet.length < IPV6_HEADER_BYTES || packet.readUInt8(0) >> 4 !== 6) return null;
  if (packet.readUInt8(6) !== ICMP[6]) return null;
  return {
    source: packet.subarray(8, 24),
    destination: packet.subarray(24, 40),
    ttl: packet.readUInt8(7),
    payload: packet.subarray(IPV6_HEADER_BYTES),
  };
}

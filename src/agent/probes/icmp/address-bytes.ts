import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { withoutZone } from '../../../runtime/net/endpoint-text.ts';

/** The destination of echo requests, in the forms that both kinds of socket need. */
export interface Destination {
  /** As the resolver gave it; for IPv6 possibly with a zone, `fe80::1%eth0`. */
  readonly address: string;
  /** 4 or 16 bytes in network order. */
  readonly bytes: Buffer;
  /** The interface's index for a link-local IPv6 address with a zone, else 0. */
  readonly scopeId: number;
}

/** null if the text is no IP address, or names an interface that does not exist. */
export function destinationOf(address: string): Destination | null {
  const [bare = '', zone] = address.split('%', 2);
  const bytes = addressBytes(bare);
  if (bytes === null) return null;
  const scopeId = zone === undefined ? 0 : scopeOf(zone);
  return scopeId === null ? null : { address, bytes, scopeId };
}

/** The address without its zone in network order: 4 bytes, 16 bytes, or null for other text. */
export function addressBytes(address: string): Buffer | null {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address) || address.includes('%')) return null;
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...before, ...zeros, ...after].entries()) {
    bytes.writeUInt16BE(group, index * 2);
  }
  return bytes;
}

const MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');

/**
 * The bytes of an address as on the wire: without its zone, and those of IPv4 for an IPv4-mapped
 * IPv6 address (RFC 4291 2.5.5.2). null for other text.
 */
export function wireBytes(address: string): Buffer | null {
  const bytes = addressBytes(withoutZone(address));
  const isMapped = bytes?.length === 16 && bytes.subarray(0, 12).equals(MAPPED_PREFIX);
  return isMapped ? bytes.subarray(12) : bytes;
}

/** The text of 4 or 16 bytes, in the canonical form of RFC 5952. */
export function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(
    1,
    -1,
  );
}

/** RFC 4291 2.2: hexadecimal groups, of which the last two may be written as an IPv4 address. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    const ipv4 = group.includes('.') ? addressBytes(group) : null;
    return ipv4 === null
      ? [Number.parseInt(group, 16)]
      : [ipv4.readUInt16BE(0), ipv4.readUInt16BE(2)];
  });
}

function scopeOf(zone: string): number | null {
  if (/^\d+$/.test(zone)) return Number(zone);
  const addresses = networkInterfaces()[zone] ?? [];
  return addresses.find(({ family }) => family === 'IPv6')?.scopeid ?? null;
}

import { BlockList } from 'node:net';

/** The position of an IPv4 address in one kind of IPv6 address. */
interface Embedding {
  readonly prefix: string;
  readonly prefixBits: number;
  readonly at: readonly [number, number, number, number];
  /** The bytes are inverted. */
  readonly inverted?: true;
}

const LAST = [12, 13, 14, 15] as const;

/**
 * IPv6 addresses that a translator, a tunnel or the operating system may turn into IPv4 addresses.
 * Without IPv4-mapped ones: see mappedIpv4.
 */
const EMBEDDINGS: readonly Embedding[] = [
  // NAT64 (RFC 6052 2.1), and its prefix for local use (RFC 8215), under which any layout of
  // RFC 6052 2.2 may have been chosen; byte 8 is unused in all of them.
  { prefix: '64:ff9b::', prefixBits: 96, at: LAST },
  { prefix: '64:ff9b:1::', prefixBits: 48, at: LAST },
  { prefix: '64:ff9b:1::', prefixBits: 48, at: [9, 10, 11, 12] },
  { prefix: '64:ff9b:1::', prefixBits: 48, at: [7, 9, 10, 11] },
  { prefix: '64:ff9b:1::', prefixBits: 48, at: [6, 7, 9, 10] },
  // IPv4-translated (RFC 2765 2.1) and IPv4-compatible ones (RFC 4291 2.5.5.1).
  { prefix: '::ffff:0:0:0', prefixBits: 96, at: LAST },
  { prefix: '::', prefixBits: 96, at: LAST },
  // 6to4 (RFC 3056 2): the router at the other end.
  { prefix: '2002::', prefixBits: 16, at: [2, 3, 4, 5] },
  // Teredo (RFC 4380 4): its server, and the client's address with all bits inverted.
  { prefix: '2001::', prefixBits: 32, at: [4, 5, 6, 7] },
  { prefix: '2001::', prefixBits: 32, at: LAST, inverted: true },
];

const KINDS = EMBEDDINGS.map((embedding) => {
  const list = new BlockList();
  list.addSubnet(embedding.prefix, embedding.prefixBits, 'ipv6');
  return { ...embedding, list };
});

/**
 * The IPv4 addresses that a connection to an IPv6 address may end at.
 *
 * @param address IPv6, without a zone
 */
export function embeddedIpv4(address: string): readonly string[] {
  const kinds = KINDS.filter(({ list }) => list.check(address, 'ipv6'));
  if (kinds.length === 0) return [];
  const bytes = bytesOf(address);
  const found = kinds.map(({ at, inverted }) =>
    at.map((index) => (bytes[index] ?? 0) ^ (inverted === true ? 0xff : 0)).join('.'),
  );
  // 0.0.0.0/8 is no host (RFC 6890 2.2.2): ::1 is not 0.0.0.1.
  return [...new Set(found)].filter((inside) => !inside.startsWith('0.'));
}

/**
 * The address of an IPv4-mapped one (RFC 4291 2.5.5.2), to which sockets connect over IPv4; null for any other.
 *
 * @param address IPv6, without a zone
 */
export function mappedIpv4(address: string): string | null {
  const bytes = bytesOf(address);
  const isMapped = MAPPED_PREFIX.every((byte, at) => bytes[at] === byte);
  return isMapped ? bytes.slice(MAPPED_PREFIX.length).join('.') : null;
}

/** ::ffff:0:0/96. */
const MAPPED_PREFIX = [...new Array<number>(10).fill(0), 0xff, 0xff];

/** The 16 bytes of an IPv6 address (RFC 4291 2.2). */
function bytesOf(address: string): readonly number[] {
  // The URL parser writes every form as groups of hex digits (RFC 5952 4).
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groupsOf = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

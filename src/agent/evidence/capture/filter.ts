import { isIPv4 } from 'node:net';
import { addressText, wireBytes } from '../../probes/icmp/address-bytes.ts';
import type { CaptureFilter } from './capture.ts';

/** The kernel limits the length of a filter; no real name has more addresses. */
const MAX_ADDRESSES = 32;
const TCP = 6;
const UDP = 17;
const ICMPV6 = 58;
/** "Destination unreachable" of either ICMP (RFC 792, RFC 4443). */
const UNREACHABLE = { 4: 3, 6: 1 } as const;

export type BuiltFilter =
  | { readonly ok: true; readonly expression: string }
  | { readonly ok: false; readonly note: string };

/**
 * A filter in the language of pcap-filter(7), built only from numbers and addresses that this
 * module formats. It matches packets to and from the target's port, and ICMP messages by which the
 * target (or its firewall) reports the port unreachable. It does not match ICMP messages of routers
 * on the way, which are other hosts.
 */
export function buildFilter({ addresses, port, transport }: CaptureFilter): BuiltFilter {
  if (port !== null && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    return { ok: false, note: `${port} is not a port` };
  }
  if (addresses.length > MAX_ADDRESSES) {
    return { ok: false, note: `more than ${MAX_ADDRESSES} addresses cannot be captured at once` };
  }
  const hosts = new Map<string, Buffer>();
  for (const address of addresses) {
    const bytes = wireBytes(address);
    if (bytes === null)
      return { ok: false, note: `${JSON.stringify(address)} is not an IP address` };
    hosts.set(addressText(bytes), bytes);
  }
  const parts = [...hosts].flatMap(([host, bytes]) => partsFor(host, bytes, port, transport));
  return { ok: true, expression: parts.join(' or ') };
}

function partsFor(
  host: string,
  bytes: Buffer,
  port: number | null,
  transport: CaptureFilter['transport'],
): readonly string[] {
  const isV4 = isIPv4(host);
  const ip = isV4 ? 'ip' : 'ip6';
  if (transport === 'icmp') return [`(${isV4 ? 'icmp' : 'icmp6'} and ${ip} host ${host})`];
  const protocols = { tcp: [TCP], udp: [UDP], dns: [UDP, TCP] }[transport];
  const names = protocols.map((protocol) => (protocol === TCP ? 'tcp' : 'udp'));
  const to = `${ip} dst host ${host}${port === null ? '' : ` and dst port ${port}`}`;
  const from = `${ip} src host ${host}${port === null ? '' : ` and src port ${port}`}`;
  return [
    `((${names.join(' or ')}) and ((${to}) or (${from})))`,
    ...protocols.map((protocol) => unreachable({ host, bytes, port, protocol })),
  ];
}

/**
 * Matches the target's error message about a packet to that port. It quotes the IP header, without
 * options, and at least 8 bytes behind it (RFC 792, RFC 4443 2.4).
 */
function unreachable(quoted: {
  readonly host: string;
  readonly bytes: Buffer;
  readonly port: number | null;
  readonly protocol: number;
}): string {
  const { host, bytes, port, protocol } = quoted;
  const words = Array.from({ length: bytes.length / 4 }, (_, index) =>
    bytes.readUInt32BE(index * 4),
  );
  const terms =
    bytes.length === 4
      ? [
          `ip src host ${host}`,
          `icmp[0] = ${UNREACHABLE[4]}`,
          `icmp[17] = ${protocol}`,
          ...words.map((word) => `icmp[24:4] = ${word}`),
          ...(port === null ? [] : [`icmp[30:2] = ${port}`]),
        ]
      : [
          `ip6 src host ${host}`,
          `ip6[6] = ${ICMPV6}`,
          `ip6[40] = ${UNREACHABLE[6]}`,
          `ip6[54] = ${protocol}`,
          ...words.map((word, index) => `ip6[${72 + index * 4}:4] = ${word}`),
          ...(port === null ? [] : [`ip6[90:2] = ${port}`]),
        ];
  return `(${terms.join(' and ')})`;
}

import { isIP } from 'node:net';
import type { DnsRequest } from '../../../model/check/request/dns.ts';
import { withoutZone } from '../../../runtime/net/endpoint-text.ts';
import { absoluteName } from '../../net/dns/message/names.ts';
import { TYPE_NUMBERS } from '../../net/dns/message/parameters.ts';
import type { Question } from '../../net/dns/message/query.ts';

/**
 * The question that a request asks: its name as given, absolute, in ASCII. A PTR question about an
 * IP address asks for the name below in-addr.arpa or ip6.arpa (RFC 1035 3.5, RFC 3596 2.5). null
 * if the query is not a valid name.
 */
export function questionOf({
  query,
  recordType,
}: Pick<DnsRequest, 'query' | 'recordType'>): Question | null {
  const reverse = recordType === 'PTR' ? reverseName(query) : null;
  const name = reverse ?? absoluteName(query);
  return name === null ? null : { name, type: TYPE_NUMBERS[recordType] };
}

function reverseName(text: string): string | null {
  switch (isIP(text)) {
    case 4:
      return `${text.split('.').reverse().join('.')}.in-addr.arpa.`;
    case 6:
      return `${[...hexDigits(text)].reverse().join('.')}.ip6.arpa.`;
    default:
      return null;
  }
}

/** The 32 hexadecimal digits of an IPv6 address. */
function hexDigits(address: string): string {
  // The URL parser writes an address that ends in dotted IPv4 in hexadecimal groups.
  const canonical = new URL(`http://[${withoutZone(address)}]`).hostname.slice(1, -1);
  const [left = '', right] = canonical.split('::');
  const groupsOf = (part: string | undefined): string[] => part?.match(/[0-9a-f]+/g) ?? [];
  const head = groupsOf(left);
  const tail = groupsOf(right);
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join('');
}

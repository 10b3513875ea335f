import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { withoutBrackets } from './endpoint-text.ts';

/**
 * The canonical form of a host for comparisons: lower-case ASCII without the root's dot; IPv6
 * addresses shortened (RFC 5952) and without brackets.
 */
export function hostKey(hostname: string): string {
  const bare = withoutBrackets(hostname);
  if (isIPv6(bare)) {
    const url = `http://[${bare}]/`;
    // A URL cannot contain an address with a zone.
    return URL.canParse(url) ? withoutBrackets(new URL(url).hostname) : bare.toLowerCase();
  }
  const name = plainName(bare);
  const ascii = /^[\0-\x7f]*$/.test(name) ? name : domainToASCII(name);
  return ascii === '' ? name : ascii;
}

/** Names are compared without case and without the root's dot. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

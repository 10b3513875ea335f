import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { withoutBrackets } from './text.ts';

/**
 * A host in the one form by which hosts are compared: in small letters and ASCII, without the dot of
 * the root, IPv6 addresses shortened (RFC 5952) and without brackets.
 */
export function hostKey(hostname: string): string {
  const bare = withoutBrackets(hostname);
  if (isIPv6(bare)) {
    const url = `http://[${bare}]/`;
    // An address with a zone is in no URL.
    return URL.canParse(url) ? withoutBrackets(new URL(url).hostname) : bare.toLowerCase();
  }
  const name = bare.toLowerCase().replace(/\.$/, '');
  const ascii = /^[\0-\x7f]*$/.test(name) ? name : domainToASCII(name);
  return ascii === '' ? name : ascii;
}

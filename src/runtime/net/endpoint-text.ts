import { isIPv6 } from 'node:net';

/** `example.com:443`, `[2001:db8::1]:443`; the host alone if there is no port. */
export function endpointText(hostname: string, port: number | null): string {
  if (port === null) return hostname;
  return isIPv6(hostname) ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** A URL's IPv6 literal without its brackets; everything else as it is. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** An address without the zone of a link-local IPv6 address (`fe80::1%eth0`). */
export function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

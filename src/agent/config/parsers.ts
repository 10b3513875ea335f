import { isIP, isIPv6 } from 'node:net';
import { tcpRequestSchema } from '../../model/request.ts';
import type { Parsed } from '../../runtime/config/parsers.ts';
import type { ConnectivityTarget } from '../run/connectivity.ts';

const { hostname: hostnameSchema, port: portSchema } = tcpRequestSchema.shape;

/** `host:port`, where an IPv6 address stands in brackets (RFC 3986 3.2.2). */
export function hostAndPort(text: string): Parsed<ConnectivityTarget> {
  const refused = { ok: false, culprit: text } as const;
  const parts = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  if (parts === null) return refused;
  const [, bracketed, plain, portText = ''] = parts;
  const port = Number(portText);
  if (!portSchema.safeParse(port).success) return refused;
  if (bracketed !== undefined) {
    return isIPv6(bracketed) ? { ok: true, value: { hostname: bracketed, port } } : refused;
  }
  const hostname = plain ?? '';
  // Dotted numbers that are no address (10.0.0.256) would be asked of the name servers as a name.
  const isMistyped = /^[\d.]+$/.test(hostname) && isIP(hostname) === 0;
  return isMistyped || !hostnameSchema.safeParse(hostname).success
    ? refused
    : { ok: true, value: { hostname, port } };
}

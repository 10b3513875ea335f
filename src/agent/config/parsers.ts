import { isIP, isIPv6 } from 'node:net';
import { tcpRequestSchema } from '../../model/check/request/tcp.ts';
import type { Parsed } from '../../runtime/config/parsers.ts';
import { withoutCredentials } from '../../runtime/net/proxy/proxy-url.ts';
import type { ConnectivityTarget } from '../run/connectivity.ts';

const { hostname: hostnameSchema, port: portSchema } = tcpRequestSchema.shape;

/** `host:port`, with an IPv6 address in brackets (RFC 3986 3.2.2). */
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
  // Dotted numbers that are no address (10.0.0.256) would be resolved as a name.
  const isMistyped = /^[\d.]+$/.test(hostname) && isIP(hostname) === 0;
  return isMistyped || !hostnameSchema.safeParse(hostname).success
    ? refused
    : { ok: true, value: { hostname, port } };
}

/**
 * The service's address: http or https, with or without a path, without credentials, query and
 * fragment. A refused address is shown without its credentials.
 */
export function serviceUrl(text: string): Parsed<URL> {
  const refused = { ok: false, culprit: withoutCredentials(text) } as const;
  if (!URL.canParse(text)) return refused;
  const url = new URL(text);
  const isPlain =
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  return isPlain ? { ok: true, value: url } : refused;
}

const LOCATION_KEY = /^pl_[0-9a-f]{32}$/;

export function locationKey(text: string): Parsed<string> {
  return LOCATION_KEY.test(text) ? { ok: true, value: text } : { ok: false, culprit: text };
}

/** A tag of checks, or the start of tags followed by `*`. */
export function tagPattern(text: string): Parsed<string> {
  const isRight = text.length <= 255 && !text.slice(0, -1).includes('*');
  return isRight ? { ok: true, value: text } : { ok: false, culprit: text };
}

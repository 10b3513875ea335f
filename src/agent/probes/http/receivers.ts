import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import type { HttpProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import type { Receiver } from '../../config/variable-targets.ts';
import { clientCertificateFor } from '../../net/tls/client-certificates.ts';

interface Sent {
  readonly url: URL;
  readonly headers: readonly (readonly [string, string])[];
}

/** The settings of a location and a check for the route to a target. */
export interface RouteSettings {
  readonly proxy: HttpProxy | null;
  readonly skipSSL: boolean;
  readonly clientCertificates: readonly ClientCertificate[];
}

/** The host and port of a URL of http or https. */
export function receiverOf(url: URL): Receiver {
  const standard = url.protocol === 'https:' ? 443 : 80;
  const port = url.port === '' ? standard : Number(url.port);
  return { hostname: withoutBrackets(url.hostname), port };
}

/**
 * All hosts that can read a request: its target, the host of a Host header behind the same address,
 * and a proxy, unless TLS with a verified certificate goes through it.
 */
export function receiversOf(
  { url, headers }: Sent,
  { proxy, skipSSL, clientCertificates }: RouteSettings,
): readonly Receiver[] {
  const host = receiverOf(url);
  const named = headers
    .filter(([name]) => name.trim().toLowerCase() === 'host')
    .map(([, value]) => ({ hostname: withoutPort(value.trim()), port: host.port }));
  if (proxy === null) return [host, ...named];
  const certificate = clientCertificateFor(host.hostname, clientCertificates);
  const isVerified = url.protocol === 'https:' && !skipSSL && (certificate?.ca ?? null) === null;
  return [host, ...named, ...(isVerified ? [] : [proxy])];
}

function withoutPort(host: string): string {
  return withoutBrackets(host.replace(/:\d*$/, ''));
}

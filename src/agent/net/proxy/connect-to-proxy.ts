import { isIP } from 'node:net';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import type { ProbeContext } from '../../probes/probe.ts';
import { type Connected, connectTcp, type NotConnected } from '../connect.ts';
import { secureConnect } from '../tls/secure-connect.ts';
import { proxyUnreachable } from './proxy-failures.ts';
import type { HttpProxy } from './proxy-url.ts';

/** Failures that the other family may fix. */
const OF_THE_FAMILY: ReadonlySet<ErrorCode> = new Set(['DNS_NO_ADDRESS', 'CONNECT_UNREACHABLE']);

/**
 * Connects to a proxy, with a TLS handshake if its URL begins with https. Uses IPv4, or IPv6 if the
 * proxy has no other address or route: the check's family only concerns the proxy and the target.
 * `tcpMs` includes the handshake.
 */
export async function connectToProxy(
  proxy: HttpProxy,
  context: ProbeContext,
): Promise<Connected | NotConnected> {
  const connected = await connectEither(proxy, context);
  if (!connected.ok) {
    return { ...connected, failure: proxyUnreachable(proxy, connected.failure) };
  }
  if (!proxy.isTls) return connected;
  const { hostname, port } = proxy;
  const secured = await secureConnect(
    connected,
    { hostname, port, skipSSL: false, alpnProtocols: ['http/1.1'], clientCertificate: null },
    context,
  );
  const tcpMs = connected.tcpMs + secured.tlsMs;
  if (secured.ok) return { ...connected, socket: secured.socket, tcpMs };
  const failure = proxyUnreachable(proxy, secured.failure);
  const { address, dnsMs } = connected;
  return { ok: false, failure, address, dnsMs, tcpMs };
}

async function connectEither(
  { hostname, port }: HttpProxy,
  context: ProbeContext,
): Promise<Connected | NotConnected> {
  const first = await connectTcp({ hostname, port, ipFamily: 'IPv4' }, context);
  if (first.ok || isIP(hostname) !== 0 || !OF_THE_FAMILY.has(first.failure.code)) return first;
  const second = await connectTcp({ hostname, port, ipFamily: 'IPv6' }, context);
  const dnsMs = first.dnsMs + second.dnsMs;
  const tcpMs = first.tcpMs + second.tcpMs;
  // For a name without any address, reports the failure for the more common family.
  const isWorse = !second.ok && second.failure.code === 'DNS_NO_ADDRESS';
  return { ...(isWorse ? first : second), dnsMs, tcpMs };
}

import type { Socket } from 'node:net';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import type { TcpRequest } from '../../../model/check/request/tcp.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import type { Connected } from '../../net/connect.ts';
import { targetText } from '../../net/connect-failures.ts';
import type { Limits } from '../../net/limited-wait.ts';
import { openSocket } from '../../net/open-socket.ts';
import { clientCertificateFor } from '../../net/tls/client-certificates.ts';
import { lateRejection } from '../../net/tls/late-rejection.ts';
import { type SecureOutcome, secureConnect } from '../../net/tls/secure-connect.ts';
import { upgradeToTls } from '../../net/tls/starttls/upgrade.ts';
import type { ProbeContext } from '../probe.ts';

/**
 * Begins TLS on the connection of a TCP check: after the opening of `startTlsProtocol`, if it has
 * one. Verifies the certificate and closes the connection on a failure, as secureConnect does.
 * `tlsMs` includes the opening, but not the wait for a late rejection of the client's certificate.
 *
 * @param isReading the caller reads afterwards, and so learns of a late rejection itself
 */
export async function secureTcp(
  connected: Connected,
  request: TcpRequest,
  certificates: readonly ClientCertificate[],
  context: ProbeContext,
  isReading: boolean,
): Promise<SecureOutcome> {
  const { port, skipSSL, alpnProtocols, startTlsProtocol } = request;
  const { clock, scrub, log } = context;
  const { address } = connected;
  const hostname = withoutBrackets(request.hostname);
  const serverName = withoutBrackets(request.serverName ?? hostname);
  const target = targetText(hostname, port, address);
  const upgrade = (socket: Socket, limits: Limits) =>
    startTlsProtocol === null
      ? null
      : upgradeToTls(socket, { protocol: startTlsProtocol, serverName, target, scrub }, limits);

  const startMs = clock.monotonicMs();
  const failure = await upgrade(connected.socket, context);
  const upgradeMs = clock.monotonicMs() - startMs;
  if (failure !== null) return { ok: false, failure, facts: null, tlsMs: upgradeMs };
  if (startTlsProtocol !== null) {
    log.info(`${startTlsProtocol}: the server agreed to TLS in ${millisecondsText(upgradeMs)}`);
  }
  const through = {
    target,
    async reopen(limits: Limits): Promise<Socket | null> {
      const opened = await openSocket(address, port, limits);
      if (!opened.ok) return null;
      return (await upgrade(opened.socket, limits)) === null ? opened.socket : null;
    },
  };
  const clientCertificate = clientCertificateFor(hostname, certificates);
  const secured = await secureConnect(
    connected,
    { hostname: serverName, port, skipSSL, alpnProtocols, clientCertificate, through },
    context,
  );
  const tlsMs = upgradeMs + secured.tlsMs;
  if (!secured.ok || isReading) return { ...secured, tlsMs };
  const { socket, facts } = secured;
  const tookMs = connected.tcpMs + secured.tlsMs;
  const rejection = await lateRejection(
    { socket, wire: connected.socket, target, tookMs },
    context,
  );
  if (rejection === null) return { ...secured, tlsMs };
  socket.destroy();
  return { ok: false, failure: rejection, facts, tlsMs };
}

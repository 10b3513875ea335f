import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { type Connected, connectTcp, type NotConnected } from '../../net/connect.ts';
import { makeQuery, type Question } from '../../net/dns/message/query.ts';
import { exchangeOverTls } from '../../net/dns/tls-exchange.ts';
import { Stopwatch } from '../../net/stopwatch.ts';
import { clientCertificateFor } from '../../net/tls/client-certificates.ts';
import { secureConnect } from '../../net/tls/secure-connect.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ProbeContext } from '../probe.ts';
import {
  certificateHost,
  type EncryptedExchange,
  failedBeforeQuestion,
  inEitherFamily,
} from './encrypted-exchange.ts';

export interface EncryptedServer {
  readonly nameServer: string;
  readonly port: number;
  readonly serverName: string | null;
  readonly skipSSL: boolean;
}

/**
 * DNS over TLS (RFC 7858). Offers no ALPN: servers need not know `dot`, and some refuse a list that
 * contains nothing else. Messages are not padded, as the question of a check is no secret.
 */
export async function askOverTls(
  question: Question,
  server: EncryptedServer,
  context: ProbeContext,
  clientCertificates: readonly ClientCertificate[],
): Promise<EncryptedExchange> {
  const { nameServer, port, skipSSL } = server;
  const hostname = withoutBrackets(nameServer);
  const connected = await connect(server, context);
  const { address, tcpMs } = connected;
  const endpoint: Endpoint = { hostname, address, port, transport: 'tcp' };
  if (!connected.ok) {
    const lookUpMs = address === null ? connected.dnsMs : 0;
    return {
      end: failedBeforeQuestion(nameServer, connected.failure),
      endpoint,
      tls: null,
      phases: { tcpMs, tlsMs: 0, queryMs: lookUpMs },
      isTimedByKernel: false,
    };
  }
  const isTimedByKernel = connected.kernelMs > 0;
  const certified = withoutBrackets(certificateHost(server));
  const secured = await secureConnect(
    connected,
    {
      hostname: certified,
      port,
      skipSSL,
      alpnProtocols: [],
      clientCertificate: clientCertificateFor(hostname, clientCertificates),
    },
    context,
  );
  const { facts: tls, tlsMs } = secured;
  if (!secured.ok) {
    const end = { kind: 'failed', failure: secured.failure } as const;
    return { end, endpoint, tls, phases: { tcpMs, tlsMs, queryMs: 0 }, isTimedByKernel };
  }
  const stopwatch = new Stopwatch(context);
  const query = makeQuery(question, { edns: true, authenticData: true });
  const sockets = { socket: secured.socket, wire: connected.socket };
  const reached = { address: connected.address, port };
  const end = await exchangeOverTls(sockets, query, reached, context);
  const phases = { tcpMs, tlsMs, queryMs: stopwatch.elapsedMs() };
  return { end, endpoint, tls, phases, isTimedByKernel };
}

async function connect(
  { nameServer, port }: EncryptedServer,
  context: ProbeContext,
): Promise<Connected | NotConnected> {
  const tried = await inEitherFamily(async (ipFamily) => {
    const connected = await connectTcp({ hostname: nameServer, port, ipFamily }, context);
    return { connected, failure: connected.ok ? null : connected.failure };
  });
  return tried.connected;
}

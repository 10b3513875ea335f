import type { ClientCertificate } from '../../../model/client-certificate.ts';
import type { Failure } from '../../../model/error-codes.ts';
import type { TlsFacts } from '../../../model/result.ts';
import type { IpFamily } from '../../../model/vocabulary.ts';
import { connectTcp } from '../../net/connect.ts';
import { familyFor } from '../../net/host-families.ts';
import { clientCertificateFor } from '../../net/tls/client-certificates.ts';
import { secureConnect } from '../../net/tls/secure-connect.ts';
import { durationText, withoutBrackets } from '../../net/words.ts';
import type { ProbeContext } from '../probe.ts';
import { type BodyPlan, type ExchangeResult, runExchange } from './exchange.ts';
import { requestText } from './shown-url.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

export interface HopOptions {
  readonly ipFamily: IpFamily;
  readonly skipSSL: boolean;
  readonly clientCertificates: readonly ClientCertificate[];
  /** To speak HTTP/1.1 also where the server offers HTTP/2. */
  readonly http1Only: boolean;
  readonly planOf: (head: ResponseHead) => BodyPlan;
}

/** One request and its answer over a connection of its own. All times in milliseconds. */
export interface Hop {
  /** Monotonic instants. */
  readonly startMs: number;
  readonly endMs: number;
  readonly dnsMs: number;
  readonly tcpMs: number;
  readonly tlsMs: number;
  /** The last phase before the exchange that was finished. */
  readonly reached: 'nothing' | 'lookup' | 'connect' | 'secureConnect';
  readonly address: string | null;
  readonly ipFamily: IpFamily;
  readonly tls: TlsFacts | null;
  /** null where no connection came about. */
  readonly exchange: ExchangeResult | null;
  readonly failure: Failure | null;
}

/** HTTP/2 is offered first: servers that speak both are measured as browsers meet them. */
export async function runHop(
  request: HopRequest,
  options: HopOptions,
  context: ProbeContext,
): Promise<Hop> {
  const { url } = request;
  const startMs = context.clock.monotonicMs();
  const hostname = withoutBrackets(url.hostname);
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);

  const asked = familyFor(hostname, options.ipFamily);
  const connected = await connectTcp({ hostname, port, ipFamily: asked }, context);
  const { address, dnsMs, tcpMs } = connected;
  const base = { startMs, dnsMs, tcpMs, tlsMs: 0, address, tls: null, exchange: null };
  if (!connected.ok) {
    return {
      ...base,
      endMs: startMs + dnsMs + tcpMs,
      reached: address === null ? 'nothing' : 'lookup',
      ipFamily: asked,
      failure: connected.failure,
    };
  }
  const { ipFamily } = connected;
  if (!isTls) {
    const exchange = await runExchange(connected.socket, request, context, options.planOf);
    return { ...base, reached: 'connect', ipFamily, ...exchanged(request, exchange, startMs) };
  }
  const secured = await secureConnect(
    connected,
    {
      hostname,
      port,
      skipSSL: options.skipSSL,
      alpnProtocols: options.http1Only ? ['http/1.1'] : ['h2', 'http/1.1'],
      clientCertificate: clientCertificateFor(hostname, options.clientCertificates),
    },
    context,
  );
  const { facts: tls, tlsMs } = secured;
  if (!secured.ok) {
    // What was looked up about a failed handshake afterwards is not the target's time.
    const endMs = startMs + dnsMs + tcpMs + tlsMs;
    const { failure } = secured;
    return { ...base, endMs, reached: 'connect', ipFamily, tls, tlsMs, failure };
  }
  const exchange = await runExchange(secured.socket, request, context, options.planOf);
  const rest = exchanged(request, exchange, startMs);
  return { ...base, reached: 'secureConnect', ipFamily, tls, tlsMs, ...rest };
}

function exchanged(
  request: HopRequest,
  exchange: ExchangeResult,
  startMs: number,
): Pick<Hop, 'endMs' | 'exchange' | 'failure'> {
  return {
    endMs: exchange.endMs,
    exchange,
    failure: failureOf(request, exchange, exchange.endMs - startMs),
  };
}

function failureOf(request: HopRequest, exchange: ExchangeResult, afterMs: number): Failure | null {
  const { ending, body } = exchange;
  const decodeError = body?.decodeError ?? null;
  if (ending === null && decodeError === null) return null;
  const code = ending?.code ?? 'BODY_DECODE_FAILED';
  const what = ending?.what ?? decodeError ?? '';
  return { code, message: `${requestText(request)}: ${what} (after ${durationText(afterMs)})` };
}

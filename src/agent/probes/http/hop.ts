import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import type { IpFamily } from '../../../model/enums.ts';
import type {
  FamilyOutcome,
  TcpFacts,
  TlsFacts,
} from '../../../model/result/details/check-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import type { HttpProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import { familyFor, type SoughtFamily } from '../../net/address-family.ts';
import {
  type Connected,
  type ConnectTarget,
  connectTcp,
  type NotConnected,
} from '../../net/connect.ts';
import {
  type ConnectedThrough,
  connectThroughProxy,
} from '../../net/proxy/connect-through-proxy.ts';
import { Stopwatch } from '../../net/stopwatch.ts';
import { clientCertificateFor } from '../../net/tls/client-certificates.ts';
import { secureConnect } from '../../net/tls/secure-connect.ts';
import type { Endpoint } from '../endpoint.ts';
import type { ProbeContext } from '../probe.ts';
import { tcpFactsOf } from '../tcp-facts.ts';
import { type BodyPlan, type ExchangeResult, runExchange } from './exchange.ts';
import { hopThroughProxy, planBehindProxy, requestForProxy } from './forwarding-proxy.ts';
import { receiverOf } from './receivers.ts';
import { requestText } from './shown-url.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

export interface HopOptions {
  readonly ipFamily: SoughtFamily;
  readonly skipSSL: boolean;
  readonly clientCertificates: readonly ClientCertificate[];
  /** Use HTTP/1.1 even if the server offers HTTP/2. */
  readonly http1Only: boolean;
  readonly planOf: (head: ResponseHead) => BodyPlan;
  /** null for a direct connection. */
  readonly proxy: HttpProxy | null;
  /**
   * A host to connect to instead of the URL's. The certificate must still be for the URL's host.
   */
  readonly connectTo?: string;
}

/** One request and its response over a connection of its own. All times are in milliseconds. */
export interface Hop {
  /** Monotonic instants; the start is later by `unseenMs`. */
  readonly startMs: number;
  readonly endMs: number;
  /** Our own delay between an event that the kernel timed and our event loop; in no phase. */
  readonly unseenMs: number;
  readonly dnsMs: number;
  readonly tcpMs: number;
  readonly tlsMs: number;
  /** The last phase before the exchange that was finished. */
  readonly reached: 'nothing' | 'lookup' | 'connect' | 'secureConnect';
  /** The target's address, or the proxy's if the proxy resolves the target's name. */
  readonly address: string | null;
  /** The destination of the connection: the proxy if there is one. null if there was none. */
  readonly endpoint: Endpoint | null;
  readonly ipFamily: IpFamily;
  /** With ANY only: the families that were tried. */
  readonly families: readonly FamilyOutcome[] | undefined;
  readonly tls: TlsFacts | null;
  readonly tcp: TcpFacts | null;
  /** The kernel timed a part: how long connecting took, or the first byte. */
  readonly isTimedByKernel: boolean;
  /** The kernel's lower bound of the peer's time; 0 if it is not available. */
  readonly peerMs: number;
  readonly exchange: ExchangeResult | null;
  readonly failure: Failure | null;
}

/** Offers HTTP/2 first: a server that speaks both is measured as browsers use it. */
export async function runHop(
  request: HopRequest,
  options: HopOptions,
  context: ProbeContext,
): Promise<Hop> {
  const { url } = request;
  const calledMs = context.clock.monotonicMs();
  const stopwatch = new Stopwatch(context, calledMs);
  const isTls = url.protocol === 'https:';
  const { hostname, port } = receiverOf(url);
  const { proxy } = options;
  const host = options.connectTo ?? hostname;
  const sought = familyFor(host, options.ipFamily);
  const target = { hostname: host, port, ipFamily: sought };
  const connected = await connect(target, isTls, proxy, context);
  const { dnsMs, tcpMs } = connected;
  const { unseenMs } = stopwatch;
  const startMs = calledMs + unseenMs;
  const through = 'tunnel' in connected ? connected : null;
  const address = through?.targetAddress ?? connected.address;
  const next = proxy ?? target;
  const endpoint: Endpoint = {
    hostname: next.hostname,
    port: next.port,
    address: connected.address,
    transport: 'tcp',
  };
  const kernelMs = connected.ok ? connected.kernelMs : 0;
  const isTimedByKernel = kernelMs > 0;
  const peerMs = proxy === null ? kernelMs : 0;
  const times = { startMs, unseenMs, dnsMs, tcpMs, tlsMs: 0, isTimedByKernel, peerMs };
  const peer = proxy === null ? 'target' : 'proxy';
  const handshake = connected.ok ? connected.handshake : null;
  const tcp = tcpFactsOf(handshake, peer);
  const { families } = connected;
  const base = { ...times, address, endpoint, families, tls: null, tcp, exchange: null };
  if (!connected.ok) {
    return {
      ...base,
      endMs: startMs + dnsMs + tcpMs,
      reached: address === null ? 'nothing' : 'lookup',
      ipFamily: sought === 'ANY' ? familyFor(address ?? '', 'IPv4') : sought,
      failure: connected.failure,
    };
  }
  const ipFamily = address === null ? connected.ipFamily : familyFor(address, 'IPv4');
  const tunnel = through?.tunnel ?? null;
  if (!isTls) {
    const isForwarded = proxy !== null && tunnel === null;
    const sent = isForwarded ? requestForProxy(request, proxy, context.log) : request;
    const planOf = isForwarded ? planBehindProxy(options.planOf) : options.planOf;
    const exchange = await runExchange(connected.socket, sent, context, planOf);
    const rest = exchanged(request, exchange, base, peer, context);
    const hop: Hop = { ...base, reached: 'connect', ipFamily, ...rest };
    return isForwarded ? hopThroughProxy(hop, request, proxy, context) : hop;
  }
  const secured = await secureConnect(
    connected,
    {
      hostname,
      port,
      skipSSL: options.skipSSL,
      alpnProtocols: options.http1Only ? ['http/1.1'] : ['h2', 'http/1.1'],
      clientCertificate: clientCertificateFor(host, options.clientCertificates),
      ...(tunnel === null ? {} : { through: tunnel }),
    },
    context,
  );
  const { facts: tls, tlsMs } = secured;
  if (!secured.ok) {
    // A second handshake after a failed one is not the target's time.
    const endMs = startMs + dnsMs + tcpMs + tlsMs;
    const { failure } = secured;
    return { ...base, endMs, reached: 'connect', ipFamily, tls, tlsMs, failure };
  }
  const exchange = await runExchange(
    secured.socket,
    request,
    context,
    options.planOf,
    connected.socket,
  );
  const rest = exchanged(request, exchange, base, peer, context);
  return { ...base, reached: 'secureConnect', ipFamily, tls, tlsMs, ...rest };
}

function connect(
  target: ConnectTarget,
  isTls: boolean,
  proxy: HttpProxy | null,
  context: ProbeContext,
): Promise<Connected | ConnectedThrough | NotConnected> {
  if (proxy === null) return connectTcp(target, context);
  return connectThroughProxy(target, isTls, proxy, context);
}

type BeforeExchange = Pick<Hop, 'startMs' | 'unseenMs' | 'isTimedByKernel' | 'tcp' | 'peerMs'>;

function exchanged(
  request: HopRequest,
  exchange: ExchangeResult,
  before: BeforeExchange,
  peer: TcpFacts['peer'],
  context: ProbeContext,
): BeforeExchange & Pick<Hop, 'endMs' | 'exchange' | 'failure'> {
  const { unseenMs, endMs } = exchange;
  const startMs = before.startMs + unseenMs;
  return {
    startMs,
    endMs,
    unseenMs: before.unseenMs + unseenMs,
    isTimedByKernel: before.isTimedByKernel || exchange.isTimedByKernel,
    exchange,
    tcp: tcpFactsOf(exchange.connection, peer) ?? before.tcp,
    peerMs: before.peerMs + exchange.peerMs,
    failure: failureOf(request, exchange, endMs - startMs, context),
  };
}

function failureOf(
  request: HopRequest,
  exchange: ExchangeResult,
  afterMs: number,
  context: ProbeContext,
): Failure | null {
  const { ending, body } = exchange;
  const decodeError = body?.decodeError ?? null;
  if (ending === null && decodeError === null) return null;
  const code = ending?.code ?? 'BODY_DECODE_FAILED';
  const what = ending?.what ?? decodeError ?? '';
  const message = `${requestText(request, context)}: ${what} (after ${millisecondsText(afterMs)})`;
  return { code, message };
}

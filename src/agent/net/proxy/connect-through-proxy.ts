import { isIP } from 'node:net';
import type { ErrorCode } from '../../../model/result/error-codes.ts';
import { endpointText, withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import type { HttpProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import { JobLog } from '../../probes/job-log.ts';
import type { ProbeContext } from '../../probes/probe.ts';
import { type Connected, type ConnectTarget, connectTcp, type NotConnected } from '../connect.ts';
import { targetText } from '../connect-failures.ts';
import { type Choice, chooseAddresses } from '../permitted-addresses.ts';
import { Stopwatch } from '../stopwatch.ts';
import { secureConnect, type TunnelHop } from '../tls/secure-connect.ts';
import { openTunnel } from './open-tunnel.ts';
import { proxyUnreachable, tunnelFailure } from './proxy-failures.ts';

/** A connection to a proxy for reaching a target. */
export interface ConnectedThrough extends Connected {
  /** The address sent to the proxy; null if the proxy resolves the target's name itself. */
  readonly targetAddress: string | null;
  /**
   * null if the proxy forwards single requests, so that it needs the whole URL; otherwise the
   * connection behaves like one to the target.
   */
  readonly tunnel: TunnelHop | null;
}

/** Failures that a connection over the other family may avoid. */
const OF_THE_FAMILY: ReadonlySet<ErrorCode> = new Set(['DNS_NO_ADDRESS', 'CONNECT_UNREACHABLE']);
/** Failures that another address of the target may avoid. */
const OF_THE_ADDRESS: ReadonlySet<ErrorCode> = new Set(['PROXY_REFUSED', 'CONNECT_TIMEOUT']);

/**
 * Connects to a proxy and, for https, requests a tunnel to the target. With TARGET_DENY, the agent
 * resolves the target's name and sends the checked address to the proxy, also for http: otherwise a
 * name server could direct the proxy to another address. All work at the proxy counts as `tcpMs`.
 */
export async function connectThroughProxy(
  target: ConnectTarget,
  isTls: boolean,
  proxy: HttpProxy,
  context: ProbeContext,
): Promise<ConnectedThrough | NotConnected> {
  const { guard, log, clock } = context;
  const hostname = withoutBrackets(target.hostname);
  const { port } = target;
  log.info(
    `connecting through the proxy ${proxy.shown}: log lines until the tunnel is open concern the proxy`,
  );
  if (!guard.isActive) {
    if (!isTls) {
      const connected = await connectToProxy(proxy, context);
      return connected.ok ? { ...connected, targetAddress: null, tunnel: null } : connected;
    }
    const text = endpointText(hostname, port);
    return await tunnelTo({ hostname, port, text, becauseOfDeny: false }, proxy, context);
  }

  const stopwatch = new Stopwatch(context);
  const found = await resolveTarget({ ...target, hostname }, context);
  const dnsMs = stopwatch.elapsedMs();
  if (!found.ok) return { ok: false, failure: found.failure, address: null, dnsMs, tcpMs: 0 };
  const addresses = [...found.addresses];
  let before = { dnsMs, tcpMs: 0 };
  for (;;) {
    const address = addresses.shift() ?? hostname;
    const text = targetText(hostname, port, address);
    const nowMs = clock.monotonicMs();
    const shareMs = (context.deadlineMs - nowMs) / (addresses.length + 1);
    const goal = { hostname: address, port, text, becauseOfDeny: !isTls };
    const end = await tunnelTo(goal, proxy, { ...context, deadlineMs: nowMs + shareMs });
    const outcome = { ...end, dnsMs: before.dnsMs + end.dnsMs, tcpMs: before.tcpMs + end.tcpMs };
    if (outcome.ok) return { ...outcome, targetAddress: address };
    if (addresses.length === 0 || !OF_THE_ADDRESS.has(outcome.failure.code)) return outcome;
    log.warn(`${outcome.failure.message}; trying the next address`);
    before = outcome;
  }
}

async function resolveTarget(
  { hostname, port, ipFamily }: ConnectTarget,
  context: ProbeContext,
): Promise<Choice> {
  const { resolver, log } = context;
  log.info(
    `TARGET_DENY is set: resolving ${hostname} here so that the address can be checked before it is sent to the proxy`,
  );
  const first = await resolver.resolve(hostname, ipFamily === 'IPv6' ? 6 : 4, context);
  const mayBeOther = ipFamily === 'ANY' && !first.ok && first.failure.code === 'DNS_NO_ADDRESS';
  const resolution = mayBeOther ? await resolver.resolve(hostname, 6, context) : first;
  if (!resolution.ok) return resolution;
  log.info(`${hostname} is ${resolution.addresses.join(', ')}`);
  return chooseAddresses(endpointText(hostname, port), resolution.addresses, context);
}

interface Goal {
  readonly hostname: string;
  readonly port: number;
  readonly text: string;
  readonly becauseOfDeny: boolean;
}

async function tunnelTo(
  goal: Goal,
  proxy: HttpProxy,
  context: ProbeContext,
): Promise<ConnectedThrough | NotConnected> {
  const { clock, log, scrub } = context;
  const connected = await connectToProxy(proxy, context);
  if (!connected.ok) return connected;
  const { socket, address, dnsMs } = connected;
  const { hostname, port, text } = goal;
  const { authorization } = proxy;
  const startMs = clock.monotonicMs();
  const request = { hostname, port, authorization };
  const end = await openTunnel(socket, request, context);
  const tookMs = clock.monotonicMs() - startMs;
  const tcpMs = connected.tcpMs + tookMs;
  if (!end.ok) {
    const failure = tunnelFailure(proxy, { ...goal, target: text }, end, { tookMs, scrub });
    return { ok: false, failure, address, dnsMs, tcpMs };
  }
  log.info(`the proxy is connected to ${text} in ${millisecondsText(tookMs)}`);
  const tunnel: TunnelHop = {
    target: `${text} through the proxy ${proxy.shown}`,
    async reopen(limits) {
      // No log: the caller reports what the second handshake finds out.
      const quiet = { ...context, ...limits, log: new JobLog(clock) };
      const again = await tunnelTo(goal, proxy, quiet);
      return again.ok ? again.socket : null;
    },
  };
  return { ...connected, tcpMs, targetAddress: null, tunnel };
}

/**
 * Connects to a proxy, with a TLS handshake if its URL begins with https. Uses IPv4, or IPv6 if the
 * proxy has no other address or route: the check's family only concerns the proxy and the target.
 * `tcpMs` includes the handshake.
 */
async function connectToProxy(
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

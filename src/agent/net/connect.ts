import { isIP, isIPv6, type Socket } from 'node:net';
import type { IpFamily } from '../../model/enums.ts';
import type { FamilyOutcome } from '../../model/result/details/check-detail.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { endpointText, withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../runtime/text/duration-text.ts';
import type { ProbeContext } from '../probes/probe.ts';
import { familyFor, hostHasIpv6, type SoughtFamily } from './address-family.ts';
import {
  connectFailure,
  mayMeanNoIpv6,
  noIpv6Failure,
  notTriedOverIpv6,
  repeatedSynText,
  targetText,
} from './connect-failures.ts';
import { raceFamilies } from './happy-eyeballs.ts';
import {
  type ConnectInstant,
  connectsFrom,
  kernelConnectMs,
  noteKernelConnect,
} from './kernel/connect-time.ts';
import type { SocketState } from './kernel/kernel-sockets.ts';
import { type Opened, openSocket } from './open-socket.ts';
import { type Addresses, chooseAddresses } from './permitted-addresses.ts';
import { Stopwatch } from './stopwatch.ts';

export interface ConnectTarget {
  /** A name, or an address; an IPv6 address with or without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly ipFamily: SoughtFamily;
}

export interface ConnectOptions {
  /**
   * The peer may send first. The time from the SYN-ACK until the event loop sees it is then also
   * the peer's, and stays in `tcpMs`.
   */
  readonly peerMaySpeakFirst?: boolean;
}

export interface Connected {
  readonly ok: true;
  readonly socket: Socket;
  readonly address: string;
  /** IPv4 if the machine has no IPv6, whatever the target's `ipFamily` is. */
  readonly ipFamily: IpFamily;
  readonly dnsMs: number;
  /** Connect time of the address that answered: SYN to SYN-ACK if the kernel measured it. */
  readonly tcpMs: number;
  /** The part of `tcpMs` that the kernel timed; 0 if the event loop timed all of it. */
  readonly kernelMs: number;
  /** The kernel's state of the connection before anything is sent; null if it is not available. */
  readonly handshake: SocketState | null;
  /** With ANY only: the families that were tried. */
  readonly families?: readonly FamilyOutcome[];
}

export interface NotConnected {
  readonly ok: false;
  readonly failure: Failure;
  /** The address that was tried last; null if none was tried. */
  readonly address: string | null;
  readonly dnsMs: number;
  readonly tcpMs: number;
  /** With ANY only: the families that were tried. */
  readonly families?: readonly FamilyOutcome[];
}

/**
 * Resolves the target's name and connects to its addresses of the requested family, in order, until
 * one answers. Addresses that the guard denies are not tried. Each address gets an equal share of
 * the remaining time, so that a silent one leaves time for the others. If all fail, the failure is
 * that of the last one, and the job log has the others. On a machine without IPv6, IPv6 falls back
 * to IPv4 (src/model/README.md, "What passes and what fails"), unless IPv4 has an attempt of its
 * own. With ANY the families race (happy-eyeballs.ts). The time up to a failure belongs to the
 * phase that failed.
 *
 * The kernel measures the connect time, so a stall of our event loop does not lengthen it. The
 * event loop times failures, repeated SYNs and connections to a peer that may send first.
 */
export async function connectTcp(
  target: ConnectTarget,
  context: ProbeContext,
  options: ConnectOptions = {},
): Promise<Connected | NotConnected> {
  const hostname = withoutBrackets(target.hostname);
  const sought = familyFor(hostname, target.ipFamily);
  if (sought === 'ANY' && isIP(hostname) === 0 && hostHasIpv6()) {
    return await connectAny({ hostname, port: target.port }, context, options);
  }
  const bare: FamilyTarget = { ...target, hostname, ipFamily: sought === 'ANY' ? 'IPv4' : sought };
  const { outcome, mayLackIpv6 } = await connectFamily(bare, context, options);
  if (!mayLackIpv6 || hostHasIpv6()) return outcome;

  if (isIPv6(bare.hostname)) {
    const failure = noIpv6Failure(endpointText(bare.hostname, bare.port));
    return { ...outcome, ok: false, failure };
  }
  // A missing IPv6 address is a fault of the name; a missing route may be one of this machine.
  if (context.staysInFamily === true) {
    const isOwnLack = !outcome.ok && outcome.failure.code !== 'DNS_NO_ADDRESS';
    return isOwnLack ? { ...outcome, failure: notTriedOverIpv6(bare.hostname) } : outcome;
  }
  context.log.warn(`this machine has no IPv6: falling back to IPv4 for ${bare.hostname}`);
  const { outcome: second } = await connectFamily({ ...bare, ipFamily: 'IPv4' }, context, options);
  const dnsMs = outcome.dnsMs + second.dnsMs;
  return { ...second, dnsMs, tcpMs: outcome.tcpMs + second.tcpMs };
}

interface FamilyTarget extends ConnectTarget {
  readonly ipFamily: IpFamily;
}

interface OfFamily {
  readonly outcome: Connected | NotConnected;
  /** IPv6 failed in a way that a machine without IPv6 would also show. */
  readonly mayLackIpv6: boolean;
}

async function connectFamily(
  target: FamilyTarget,
  context: ProbeContext,
  { peerMaySpeakFirst = false }: ConnectOptions,
): Promise<OfFamily> {
  const { log } = context;
  const { hostname, port, ipFamily } = target;
  const start = connectsFrom(context);
  const stopwatch = new Stopwatch(context, start.atMs);
  const family = ipFamily === 'IPv6' ? 6 : 4;
  const resolution = await context.resolver.resolve(hostname, family, context);
  const isLiteral = isIP(hostname) !== 0;
  const dnsMs = isLiteral ? 0 : stopwatch.elapsedMs();
  if (!resolution.ok) {
    const { failure } = resolution;
    const outcome = { ok: false, failure, address: null, dnsMs, tcpMs: 0 } as const;
    return { outcome, mayLackIpv6: family === 6 && failure.code === 'DNS_NO_ADDRESS' };
  }
  const { addresses } = resolution;
  if (!isLiteral) {
    log.info(`${hostname} is ${addresses.join(', ')} (found in ${millisecondsText(dnsMs)})`);
  }
  const choice = chooseAddresses(endpointText(hostname, port), addresses, context);
  if (!choice.ok) {
    const { failure } = choice;
    return { outcome: { ok: false, failure, address: null, dnsMs, tcpMs: 0 }, mayLackIpv6: false };
  }

  const since = isLiteral ? start : connectsFrom(context);
  const last = await tryAddresses(choice.addresses, target, since, context);
  if (last.end.ok) {
    const won = { ...last, opened: last.end, port, ipFamily, dnsMs };
    const outcome = connectedTo(won, stopwatch, context, peerMaySpeakFirst);
    return { outcome, mayLackIpv6: false };
  }
  const tcpMs = stopwatch.elapsedMs() - dnsMs;
  const failure = connectFailure(targetText(hostname, port, last.address), last.end, last.tookMs);
  const outcome = { ok: false, failure, address: last.address, dnsMs, tcpMs } as const;
  return { outcome, mayLackIpv6: family === 6 && last.allLackRoute };
}

async function connectAny(
  target: { readonly hostname: string; readonly port: number },
  context: ProbeContext,
  { peerMaySpeakFirst = false }: ConnectOptions,
): Promise<Connected | NotConnected> {
  const stopwatch = new Stopwatch(context);
  const { families, ...end } = await raceFamilies(target, context);
  const { dnsMs } = end;
  if (!end.ok) return { ...end, tcpMs: stopwatch.elapsedMs() - dnsMs, families };
  const connected = connectedTo({ ...end, ...target }, stopwatch, context, peerMaySpeakFirst);
  return { ...connected, families };
}

interface OpenedTo {
  readonly opened: Extract<Opened, { ok: true }>;
  readonly address: string;
  readonly port: number;
  readonly ipFamily: IpFamily;
  readonly dnsMs: number;
  /** The start of this connection, which others may have preceded. */
  readonly since: ConnectInstant;
}

/**
 * The connection with its times, which it also records and logs. Call it right after connecting.
 */
function connectedTo(
  { opened, address, port, ipFamily, dnsMs, since }: OpenedTo,
  stopwatch: Stopwatch,
  { clock, starvation, log }: ProbeContext,
  peerMaySpeakFirst: boolean,
): Connected {
  const mark = starvation?.mark();
  const endMs = clock.monotonicMs();
  const { socket, handshake } = opened;
  const kernelMs = kernelConnectMs(since, handshake, endMs);
  if (kernelMs > 0 && !peerMaySpeakFirst) {
    noteKernelConnect(since, { atMs: endMs, mark }, kernelMs, starvation);
  }
  const tcpMs = stopwatch.elapsedMs(endMs) - dnsMs;
  const synsRepeated = handshake?.retransmits ?? 0;
  const text = endpointText(address, port);
  if (synsRepeated > 0) log.warn(repeatedSynText(text, synsRepeated));
  log.info(`connected to ${text} in ${millisecondsText(tcpMs)}`);
  return { ok: true, socket, address, ipFamily, handshake, dnsMs, tcpMs, kernelMs };
}

interface Tried {
  readonly address: string;
  readonly end: Opened;
  readonly since: ConnectInstant;
  readonly tookMs: number;
  /** Every address so far failed as on a machine without IPv6. */
  readonly allLackRoute: boolean;
}

/** Returns the outcome of the last address that was tried: the first that answered, if any. */
async function tryAddresses(
  [first, ...rest]: Addresses,
  { hostname, port }: FamilyTarget,
  from: ConnectInstant,
  context: ProbeContext,
): Promise<Tried> {
  const { clock, signal, deadlineMs, starvation, log } = context;
  const tryOne = async (
    address: string,
    since: ConnectInstant,
    left: number,
    lackedRoute: boolean,
  ): Promise<Tried> => {
    const startMs = clock.monotonicMs();
    const shareMs = (deadlineMs - startMs) / left;
    const limits = { clock, signal, deadlineMs: startMs + shareMs, starvation };
    const end = await openSocket(address, port, limits);
    const tookMs = clock.monotonicMs() - startMs;
    const lacksRoute = !end.ok && end.ended === 'error' && mayMeanNoIpv6(end.systemCode);
    return { address, end, since, tookMs, allLackRoute: lackedRoute && lacksRoute };
  };

  let tried = await tryOne(first, from, rest.length + 1, true);
  for (const [index, address] of rest.entries()) {
    if (tried.end.ok || tried.end.ended === 'cancelled') break;
    const target = targetText(hostname, port, tried.address);
    const { message } = connectFailure(target, tried.end, tried.tookMs);
    log.warn(`${message}; trying the next address`);
    tried = await tryOne(address, connectsFrom(context), rest.length - index, tried.allLackRoute);
  }
  return tried;
}

import type { IcmpRequest } from '../../../model/check/request/icmp.ts';
import type { TimingClock } from '../../../model/result/details/check-detail.ts';
import type {
  IcmpDetail,
  IcmpResponse,
  IcmpTimingPhases,
} from '../../../model/result/details/icmp-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Stopwatch } from '../../net/stopwatch.ts';
import { type ProbeContext, type ProbeOutcome, roundToMicroseconds } from '../probe.ts';
import { echoFailure } from './echo-failure.ts';
import { ECHO_DATA_BYTES } from './echo-packet.ts';
import { runEchoes } from './echo-run.ts';
import { countPackets, icmpSummary, kernelUncertainMs } from './packet-counts.ts';
import { type ResolvedDestination, resolveDestination } from './resolve-destination.ts';
import { SharedSockets } from './shared-sockets.ts';

/** `responseTimeMs` is the average round trip, 0 without a reply. */
export interface IcmpOutcome
  extends ProbeOutcome<IcmpDetail['request'], IcmpResponse, null, IcmpTimingPhases> {
  /** Which clock timed the round trips. */
  readonly clock: TimingClock;
}

export interface IcmpProbe {
  /**
   * Sends `pingCount` echo requests 500 ms apart and waits 2 s for each reply. No reply at all is a
   * failure with a response (100 % lost); the response is null if nothing could be sent.
   */
  probe(request: IcmpRequest, context: ProbeContext): Promise<IcmpOutcome>;
  /** Closes the sockets. Runs in progress end as faults. */
  close(): void;
}

/** All ICMP checks of an agent share one socket for each address family. */
export function createIcmpProbe({ clock }: { readonly clock: Clock }): IcmpProbe {
  const sockets = new SharedSockets(clock);
  return {
    probe: (request, context) => probeIcmp(sockets, request, context),
    close: () => sockets.close(),
  };
}

interface Progress {
  readonly dnsMs: number;
  readonly response: IcmpResponse | null;
  readonly failure: Failure | null;
  readonly clock: TimingClock;
}

async function probeIcmp(
  sockets: SharedSockets,
  { hostname, pingCount, ipFamily }: IcmpRequest,
  context: ProbeContext,
): Promise<IcmpOutcome> {
  const { signal } = context;
  const stopwatch = new Stopwatch(context);
  const resolved = await resolveDestination(hostname, ipFamily, context);
  const dnsMs = stopwatch.elapsedMs();
  const progress = resolved.ok
    ? await pingResolved(sockets, { hostname, pingCount, dnsMs }, resolved, context)
    : { dnsMs, response: null, failure: resolved.failure, clock: 'event-loop' as const };
  const failure = signal.aborted ? cancelled(hostname) : progress.failure;
  return {
    request: { hostname, pingCount, ipFamily },
    endpoint: {
      hostname,
      address: resolved.ok ? resolved.destination.address : null,
      port: null,
      transport: 'icmp',
    },
    response: progress.response,
    failure,
    timings: null,
    timingPhases: {
      dns: roundToMicroseconds(dnsMs),
      total: roundToMicroseconds(stopwatch.elapsedMs()),
    },
    responseTimeMs: progress.response?.latency.avg ?? 0,
    clock: progress.clock,
  };
}

async function pingResolved(
  sockets: SharedSockets,
  { hostname, pingCount, dnsMs }: { hostname: string; pingCount: number; dnsMs: number },
  { destination, family }: Extract<ResolvedDestination, { ok: true }>,
  context: ProbeContext,
): Promise<Progress> {
  const acquired = await sockets.acquire(family);
  const clock = 'event-loop';
  if (!acquired.ok) return { dnsMs, response: null, failure: acquired.failure, clock };
  const { exchange, transportName, release } = acquired.socket;
  const { address } = destination;
  try {
    const what = `${pingCount} echo requests of ${ECHO_DATA_BYTES} data bytes`;
    context.log.info(`sending ${what} to ${address} through ${transportName}`);
    const since = context.starvation?.mark();
    const ends = await runEchoes(exchange, destination, pingCount, context);
    const uncertainMs = kernelUncertainMs(ends);
    if (uncertainMs !== null && since !== undefined) {
      context.starvation?.timedByKernel({
        since,
        until: context.starvation.mark(),
        unseenMs: 0,
        uncertainMs,
      });
    }
    const facts = countPackets(ends);
    context.log.info(icmpSummary(facts));
    const response: IcmpResponse = {
      hostname,
      resolvedIp: address,
      ipFamily: family === 6 ? 'IPv6' : 'IPv4',
      pingCount,
      ...facts,
      dnsResolutionTime: roundToMicroseconds(dnsMs),
    };
    const target = hostname === address ? address : `${hostname} (${address})`;
    return {
      dnsMs,
      response: facts.packetsSent === 0 ? null : response,
      failure: echoFailure(target, ends),
      clock: uncertainMs === null ? clock : 'kernel',
    };
  } finally {
    release();
  }
}

function cancelled(hostname: string): Failure {
  return {
    code: 'CANCELLED',
    message: `Pinging ${hostname} was cancelled because the agent stops.`,
  };
}

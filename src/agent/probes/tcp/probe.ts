import type { Socket } from 'node:net';
import type { TcpRequest } from '../../../model/check/request.ts';
import type {
  TcpDetail,
  TcpFacts,
  TcpResponse,
  TcpTimingPhases,
  TcpTimings,
  TimingClock,
} from '../../../model/result/result.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { connectTcp } from '../../net/connect.ts';
import { targetText } from '../../net/connect-failures.ts';
import type { Endpoint } from '../endpoint.ts';
import { type ProbeContext, type ProbeOutcome, roundMs } from '../probe.ts';
import { tcpFactsOf } from '../tcp-facts.ts';
import { exchangeText } from './exchange.ts';

export interface TcpOutcome
  extends ProbeOutcome<TcpDetail['request'], TcpResponse, TcpTimings, TcpTimingPhases> {
  /** It waited for data until its time was up, which is no failure. */
  readonly timedOut: boolean;
  /** The kernel's lower bound of the peer's time; 0 if it is not available. */
  readonly peerMs: number;
  readonly clock: TimingClock;
  readonly tcp: TcpFacts | null;
}

/**
 * If data is sent and nothing is asserted of the answer, the first data ends the wait. The wait for
 * a silent peer ends after the largest threshold of a TCP check (5 s, src/model/README.md, "TCP:
 * `request`"), since nothing later can change the verdict.
 */
const PAST_ALL_THRESHOLDS_MS = 5001;

/**
 * Connects; if there is data to send or to wait for, sends it and reads the answer
 * (src/model/README.md, "TCP: `request`"; exchangeText decides until when). An
 * established connection is a response: assertions judge what then arrives, even if it is nothing.
 *
 * @param satisfied evaluates the RESPONSE_DATA assertions on the data so far; calls do not overlap,
 *   and come only after data has arrived
 */
export async function probeTcp(
  request: TcpRequest,
  context: ProbeContext,
  satisfied: (data: string) => Promise<boolean>,
): Promise<TcpOutcome> {
  const { clock } = context;
  const { hostname, port, data, ipFamily } = request;
  const echo = { hostname, port, data, ipFamily };
  const asserted = request.assertions.some(({ source }) => source === 'RESPONSE_DATA');
  const isSending = data !== null && data !== '';
  const isReading = isSending || asserted;
  const connection = await connectTcp(request, context, { peerMaySpeakFirst: isReading });
  const { dnsMs, tcpMs } = connection;
  const endpoint: Endpoint = {
    hostname: withoutBrackets(hostname),
    address: connection.address,
    port,
    transport: 'tcp',
  };
  if (!connection.ok) {
    const { address, failure } = connection;
    const isResolved = address !== null || failure.code === 'ADDRESS_DENIED';
    const lookup = isResolved ? roundMs(dnsMs) : null;
    return {
      request: echo,
      endpoint,
      response: null,
      failure,
      timedOut: false,
      peerMs: 0,
      clock: 'event-loop',
      tcp: null,
      ...timesOf({ lookup, connect: null, response: null }, dnsMs, tcpMs, 0),
    };
  }

  const { socket, address, handshake, kernelMs } = connection;
  const connectedMs = dnsMs + tcpMs;
  const reached = { lookup: roundMs(dnsMs), connect: roundMs(connectedMs) };
  const responseOf = (text: string): TcpResponse => ({
    data: text,
    address,
    port,
    ipFamily: connection.ipFamily,
  });
  if (!isReading) {
    await closePolitely(socket);
    return {
      request: echo,
      endpoint,
      response: responseOf(''),
      failure: null,
      timedOut: false,
      peerMs: kernelMs,
      clock: clockOf(kernelMs, dnsMs),
      tcp: tcpFactsOf(handshake, 'target'),
      ...timesOf({ ...reached, response: null }, dnsMs, tcpMs, 0),
    };
  }

  const lastUsefulMs = clock.monotonicMs() + PAST_ALL_THRESHOLDS_MS - connectedMs;
  const exchange = await exchangeText(
    socket,
    {
      target: targetText(withoutBrackets(hostname), port, address),
      data: isSending ? data : null,
      satisfied: asserted ? satisfied : async () => true,
      untilMs: asserted ? context.deadlineMs : Math.min(context.deadlineMs, lastUsefulMs),
    },
    context,
  );
  const { text, failure, firstByteMs, durationMs, timedOut } = exchange;
  const response = firstByteMs === null ? null : roundMs(connectedMs + firstByteMs);
  return {
    request: echo,
    endpoint,
    response: responseOf(text),
    failure,
    timedOut,
    peerMs: kernelMs + exchange.peerMs,
    clock: 'event-loop',
    tcp: tcpFactsOf(exchange.connection ?? handshake, 'target'),
    ...timesOf({ ...reached, response }, dnsMs, tcpMs, durationMs),
  };
}

/** For a check that only connects. */
function clockOf(kernelMs: number, dnsMs: number): TimingClock {
  if (kernelMs === 0) return 'event-loop';
  return dnsMs === 0 ? 'kernel' : 'mixed';
}

function timesOf(
  reached: Omit<TcpTimings, 'end'>,
  dnsMs: number,
  tcpMs: number,
  dataMs: number,
): Pick<TcpOutcome, 'timings' | 'timingPhases' | 'responseTimeMs'> {
  const total = roundMs(dnsMs + tcpMs + dataMs);
  return {
    timings: { ...reached, end: total },
    timingPhases: {
      dns: roundMs(dnsMs),
      connection: roundMs(tcpMs),
      data: roundMs(dataMs),
      total,
    },
    responseTimeMs: total,
  };
}

/** Closes with a FIN, which signals a normal end, not with a reset. */
function closePolitely(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) {
      resolve();
      return;
    }
    socket.once('close', () => resolve());
    socket.destroySoon();
  });
}

import type { Socket } from 'node:net';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import type { TcpRequest, TcpStep } from '../../../model/check/request/tcp.ts';
import type {
  FamilyOutcome,
  TcpFacts,
  TimingClock,
  TlsFacts,
} from '../../../model/result/details/check-detail.ts';
import type {
  TcpDetail,
  TcpResponse,
  TcpTimingPhases,
  TcpTimings,
} from '../../../model/result/details/tcp-detail.ts';
import { withoutBrackets } from '../../../runtime/net/endpoint-text.ts';
import { soughtFamily } from '../../net/address-family.ts';
import { connectTcp } from '../../net/connect.ts';
import { targetText } from '../../net/connect-failures.ts';
import { type Scrub, shortenedText } from '../../secrets/cut-scrubbed.ts';
import type { Endpoint } from '../endpoint.ts';
import { type ProbeContext, type ProbeOutcome, roundToMicroseconds } from '../probe.ts';
import { tcpFactsOf } from '../tcp-facts.ts';
import { type ExchangeStep, exchangeText, type StepMatch } from './exchange.ts';
import { secureTcp } from './secure-tcp.ts';

export interface TcpOutcome
  extends ProbeOutcome<TcpDetail['request'], TcpResponse, TcpTimings, TcpTimingPhases> {
  /** A step may have failed only because the agent was too short of CPU for its expression. */
  readonly isCutShort: boolean;
  /** The wait for data ended at its time limit, which is not a failure. */
  readonly timedOut: boolean;
  /** The kernel's lower bound of the peer's time; 0 if it is not available. */
  readonly peerMs: number;
  readonly clock: TimingClock;
  readonly tcp: TcpFacts | null;
  /** Present also after a failed handshake; null without TLS. */
  readonly tls: TlsFacts | null;
  /** With ANY only: the families that were tried. */
  readonly families: readonly FamilyOutcome[] | undefined;
}

export interface TcpProbeOptions {
  readonly clientCertificates?: readonly ClientCertificate[];
  /** `maxResponseTime` of the check, milliseconds. */
  readonly maxResponseTimeMs?: number | null;
  /** Evaluates the regular expression of a step on the text. */
  readonly matches?: (pattern: string, text: string) => Promise<StepMatch>;
}

/**
 * If nothing is asserted of the data, the wait for a peer ends after the largest threshold of a TCP
 * check (5 s, src/model/README.md, "TCP: `request`"), since nothing later can change the verdict. A
 * step that completes later can, unless the check has a maximum response time.
 */
const PAST_ALL_THRESHOLDS_MS = 5001;

/**
 * Connects and begins TLS, if the check has it; if there is data to send or to wait for, sends it
 * and reads the answer (src/model/README.md, "TCP: `request`"; exchangeText decides until when). An
 * established connection is a response: assertions judge what then arrives, even if it is nothing.
 *
 * @param satisfied evaluates the RESPONSE_DATA assertions on the data so far; calls do not overlap,
 *   and come only after data has arrived
 */
export async function probeTcp(
  request: TcpRequest,
  context: ProbeContext,
  satisfied: (data: string) => Promise<boolean>,
  options: TcpProbeOptions = {},
): Promise<TcpOutcome> {
  const { clock } = context;
  const {
    clientCertificates = [],
    maxResponseTimeMs = null,
    matches = async () => 'differs',
  } = options;
  const { hostname, port, data, steps, tls } = request;
  const echo = tcpEcho(request, context.scrub);
  const asserted = request.assertions.some(({ source }) => source === 'RESPONSE_DATA');
  const isSending = data !== null && data !== '';
  const isReading = isSending || asserted || steps.length > 0;
  const peerMaySpeakFirst = tls === 'STARTTLS' || (tls === 'OFF' && isReading);
  const ipFamily = soughtFamily(request.ipFamily);
  const connection = await connectTcp({ hostname, port, ipFamily }, context, { peerMaySpeakFirst });
  const { dnsMs, tcpMs } = connection;
  const endpoint: Endpoint = {
    hostname: withoutBrackets(hostname),
    address: connection.address,
    port,
    transport: 'tcp',
  };
  const silent = {
    request: echo,
    endpoint,
    response: null,
    timedOut: false,
    peerMs: 0,
    isCutShort: false,
    families: connection.families,
  };
  if (!connection.ok) {
    const { address, failure } = connection;
    const isResolved = address !== null || failure.code === 'ADDRESS_DENIED';
    const lookup = isResolved ? roundToMicroseconds(dnsMs) : null;
    return {
      ...silent,
      failure,
      clock: 'event-loop',
      tcp: null,
      tls: null,
      ...timesOf({ lookup, connect: null, response: null }, { dnsMs, tcpMs }),
    };
  }

  const { address, handshake, kernelMs } = connection;
  const connect = {
    lookup: roundToMicroseconds(dnsMs),
    connect: roundToMicroseconds(dnsMs + tcpMs),
  };
  const secured =
    tls === 'OFF'
      ? null
      : await secureTcp(connection, request, clientCertificates, context, isReading);
  const tlsMs = secured?.tlsMs;
  const facts = secured?.facts ?? null;
  if (secured?.ok === false) {
    return {
      ...silent,
      failure: secured.failure,
      peerMs: kernelMs,
      clock: 'event-loop',
      tcp: tcpFactsOf(handshake, 'target'),
      tls: facts,
      ...timesOf({ ...connect, secureConnect: null, response: null }, { dnsMs, tcpMs, tlsMs }),
    };
  }

  const connectedMs = dnsMs + tcpMs + (tlsMs ?? 0);
  const reached =
    secured === null ? connect : { ...connect, secureConnect: roundToMicroseconds(connectedMs) };
  const socket = secured?.socket ?? connection.socket;
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
      isCutShort: false,
      families: connection.families,
      timedOut: false,
      peerMs: kernelMs,
      clock: clockOf(kernelMs, dnsMs + (tlsMs ?? 0)),
      tcp: tcpFactsOf(handshake, 'target'),
      tls: facts,
      ...timesOf({ ...reached, response: null }, { dnsMs, tcpMs, tlsMs }),
    };
  }

  const isLimited = !asserted && (steps.length === 0 || maxResponseTimeMs !== null);
  const lastUsefulMs = clock.monotonicMs() + PAST_ALL_THRESHOLDS_MS - connectedMs;
  const exchange = await exchangeText(
    socket,
    {
      connection: connection.socket,
      target: targetText(withoutBrackets(hostname), port, address),
      data: isSending ? data : null,
      steps: steps.map((step) => exchangeStepOf(step, matches)),
      satisfied: asserted ? satisfied : steps.length > 0 ? null : async () => true,
      untilMs: isLimited ? Math.min(context.deadlineMs, lastUsefulMs) : context.deadlineMs,
    },
    context,
  );
  const { text, failure, isCutShort, firstByteMs, durationMs, timedOut } = exchange;
  const response = firstByteMs === null ? null : roundToMicroseconds(connectedMs + firstByteMs);
  return {
    request: echo,
    endpoint,
    response: responseOf(text),
    failure,
    isCutShort,
    families: connection.families,
    timedOut,
    peerMs: kernelMs + exchange.peerMs,
    clock: 'event-loop',
    tcp: tcpFactsOf(exchange.connection ?? handshake, 'target'),
    tls: facts,
    ...timesOf({ ...reached, response }, { dnsMs, tcpMs, tlsMs, dataMs: durationMs }),
  };
}

function exchangeStepOf(
  { send, expect, format }: TcpStep,
  matches: (pattern: string, text: string) => Promise<StepMatch>,
): ExchangeStep {
  const isEmpty = send === null || send === '';
  if (format === 'TEXT') {
    return {
      send: isEmpty ? null : send,
      matches: expect === null ? null : (bytes) => matches(expect, bytes.toString('utf8')),
    };
  }
  const wanted = expect === null ? null : bytesOfHex(expect);
  return {
    send: isEmpty ? null : bytesOfHex(send),
    matches:
      wanted === null ? null : async (bytes) => (bytes.includes(wanted) ? 'matches' : 'differs'),
  };
}

function bytesOfHex(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(/\s/g, ''), 'hex');
}

const MAX_ECHOED_CHARS = 1000;

/** The request as results contain it. */
export function tcpEcho(
  { hostname, port, data, steps, ipFamily }: TcpRequest,
  scrub: Scrub,
): TcpDetail['request'] {
  if (steps.length === 0) return { hostname, port, data, ipFamily };
  const echoed = steps.map((step) =>
    step.send === null
      ? step
      : { ...step, send: shortenedText(step.send, MAX_ECHOED_CHARS, scrub) },
  );
  return { hostname, port, data, steps: echoed, ipFamily };
}

/** The clock of a check that reads no data. */
function clockOf(kernelMs: number, otherMs: number): TimingClock {
  if (kernelMs === 0) return 'event-loop';
  return otherMs === 0 ? 'kernel' : 'mixed';
}

interface Durations {
  readonly dnsMs: number;
  readonly tcpMs: number;
  /** Undefined without TLS. */
  readonly tlsMs?: number | undefined;
  readonly dataMs?: number;
}

function timesOf(
  reached: Omit<TcpTimings, 'end'>,
  { dnsMs, tcpMs, tlsMs, dataMs = 0 }: Durations,
): Pick<TcpOutcome, 'timings' | 'timingPhases' | 'responseTimeMs'> {
  const total = roundToMicroseconds(dnsMs + tcpMs + (tlsMs ?? 0) + dataMs);
  return {
    timings: { ...reached, end: total },
    timingPhases: {
      dns: roundToMicroseconds(dnsMs),
      connection: roundToMicroseconds(tcpMs),
      ...(tlsMs === undefined ? {} : { tls: roundToMicroseconds(tlsMs) }),
      data: roundToMicroseconds(dataMs),
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

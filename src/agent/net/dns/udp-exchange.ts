import dgram from 'node:dgram';
import { isIPv6 } from 'node:net';
import { DatagramArrival } from '../kernel/datagram-arrival.ts';
import { type PeerActivity, UNKNOWN_ACTIVITY } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';
import {
  cancelled,
  type ExchangeFailed,
  exchangeFailed,
  questionText,
  type ServerAddress,
  serverText,
  socketFailed,
} from './exchange-failures.ts';
import { decodeMessage } from './message/message.ts';
import { type MatchedResponse, matchResponse, type Query } from './message/query.ts';

/** Maximum number of datagrams that are no answer to parse; further ones are only counted. */
const MAX_INSPECTED = 16;

/** A new socket receives almost none; a sender of more wants to keep us busy, or guesses ids. */
const MAX_IGNORED = 1000;

/** Delays in ms before the question is sent again; after the last one it is not sent again. */
const RESEND_AFTER_MS = [500, 1000, 2000, 4000, 8000];

export interface UdpExchange {
  readonly end: Exclude<MatchedResponse, { kind: 'unrelated' | 'malformed' }> | ExchangeFailed;
  /** Datagrams sent, and received ones that did not answer the question. */
  readonly sent: number;
  readonly ignored: number;
  /** null if the kernel did not time the answer, or it may answer a repeated question. */
  readonly kernelTime: KernelTime | null;
}

/** Milliseconds. */
interface KernelTime {
  /** From right before the system call that sent the question until the answer arrived. */
  readonly durationMs: number;
  /** Upper bound of the duration of that call. */
  readonly uncertainMs: number;
}

/**
 * One question over UDP, from a new socket with a random port that is connected to the server:
 * datagrams from elsewhere never reach us, and an ICMP "port unreachable" does. Counts and ignores
 * datagrams from the server with another id or question. Without an answer, repeats the question
 * after RESEND_AFTER_MS (same id, same socket: an answer to any of them counts), so that one lost
 * datagram means a slow answer, not an outage. Fails after MAX_IGNORED ignored datagrams.
 */
export function exchangeOverUdp(
  query: Query,
  server: ServerAddress,
  limits: Limits,
): Promise<UdpExchange> {
  const startMs = limits.clock.monotonicMs();
  let sent = 0;
  let sentMs = Number.NaN;
  let ignored = 0;
  let onlyNoise = true;
  let handedOverMs = Number.POSITIVE_INFINITY;
  let arrival: DatagramArrival | null = null;
  const ending = (
    end: UdpExchange['end'],
    kernelTime: UdpExchange['kernelTime'] = null,
  ): UdpExchange => ({ end, sent, ignored, kernelTime });

  const timedOut = (): UdpExchange => {
    const waitedMs = Math.round(limits.clock.monotonicMs() - startMs);
    const who = `${serverText(server)} did not answer ${questionText(query.question)} over UDP`;
    const tried = `within ${waitedMs} ms (asked ${sent} times; ${ignored} datagrams were no answer)`;
    return ignored > 0 && onlyNoise
      ? ending(
          exchangeFailed('DNS_MALFORMED', `${who} ${tried}: nothing it sent was a DNS message`),
        )
      : ending(exchangeFailed('DNS_TIMEOUT', `${who} ${tried}`));
  };

  const flooded = (): UdpExchange => {
    const what = `${serverText(server)} sent more than ${MAX_IGNORED} datagrams over UDP, none of which answers ${questionText(query.question)}`;
    return ending(exchangeFailed('DNS_MALFORMED', what));
  };

  /** Measured by our clock: the iteration at the deadline has emptied the socket's queue. */
  const activity = (): PeerActivity =>
    sent === 0 ? UNKNOWN_ACTIVITY : { kind: 'silent', ms: limits.clock.monotonicMs() - sentMs };

  const kernelTime = (): KernelTime | null => {
    const atMs = sent === 1 ? (arrival?.atMs() ?? null) : null;
    // A small step of the wall clock while the answer waited may still show here.
    if (atMs === null || !(atMs >= sentMs)) return null;
    return { durationMs: atMs - sentMs, uncertainMs: Math.min(handedOverMs, atMs) - sentMs };
  };

  return limitedWait(
    limits,
    { timedOut, cancelled: () => ending(cancelled(query.question, server)), activity },
    (settle) => {
      const socket = dgram.createSocket({
        type: isIPv6(server.address) ? 'udp6' : 'udp4',
        lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
      });
      let cancelResend = (): void => {};

      const fail = (error: unknown): void =>
        settle(ending(socketFailed(error, server, 'cannot be reached over UDP')));

      const send = (): void => {
        const pauseMs = RESEND_AFTER_MS[sent];
        sent += 1;
        if (sent === 1) sentMs = limits.clock.monotonicMs();
        socket.send(query.bytes, (error) => {
          if (error !== null) fail(error);
          else if (sent === 1) handedOverMs = limits.clock.monotonicMs();
        });
        if (pauseMs !== undefined) cancelResend = limits.clock.after(pauseMs, sendAgain);
      };

      /**
       * One more event-loop iteration: a late timer fires before the datagrams that have arrived
       * are read, and an answer to a repeated question has no kernel time.
       */
      const sendAgain = (): void => {
        const soon = setImmediate(send);
        cancelResend = () => clearImmediate(soon);
      };

      socket.on('message', (bytes) => {
        const judged = matchResponse(bytes, query);
        if (judged.kind === 'unrelated') {
          ignored += 1;
          if (ignored <= MAX_INSPECTED && decodeMessage(bytes).ok) onlyNoise = false;
          if (ignored > MAX_IGNORED) settle(flooded());
        } else if (judged.kind === 'malformed') {
          const what = `${serverText(server)} answered with ${bytes.length} bytes that are not a DNS message`;
          settle(ending(exchangeFailed('DNS_MALFORMED', `${what}: ${judged.problem}`)));
        } else {
          settle(ending(judged, kernelTime()));
        }
      });
      socket.on('error', fail);
      socket.on('connect', () => {
        const sockets = limits.starvation?.sockets ?? null;
        arrival = DatagramArrival.watch(sockets, socket, limits.clock);
        send();
      });
      socket.connect(server.port, server.address);

      return () => {
        cancelResend();
        closeQuietly(socket);
      };
    },
  );
}

/**
 * The socket may still be binding; its own listeners then carry out the close, so only ours are
 * removed. An error after the end, from a send still in progress, must find a listener.
 */
function closeQuietly(socket: dgram.Socket): void {
  for (const event of ['message', 'connect', 'error']) socket.removeAllListeners(event);
  socket.on('error', () => {});
  socket.close();
}

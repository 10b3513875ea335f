import net from 'node:net';
import { type PeerActivity, peerActivity, UNKNOWN_ACTIVITY } from '../kernel/peer-activity.ts';
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
import { type MatchedResponse, matchStreamedResponse, type Query } from './message/query.ts';
import { StreamFrames } from './message/stream-frames.ts';

/** Unrelated messages to skip before the exchange fails. */
const MAX_SKIPPED = 4;

export type TcpExchange = Extract<MatchedResponse, { kind: 'answer' }> | ExchangeFailed;

/** One question over TCP: two octets of length before each message (RFC 1035 4.2.2, RFC 7766). */
export function exchangeOverTcp(
  query: Query,
  server: ServerAddress,
  limits: Limits,
): Promise<TcpExchange> {
  const startMs = limits.clock.monotonicMs();
  const frames = new StreamFrames();
  let connection: net.Socket | null = null;
  let connected = false;
  let skipped = 0;

  const timedOut = (): TcpExchange => {
    const waitedMs = Math.round(limits.clock.monotonicMs() - startMs);
    const who = serverText(server);
    const what = connected
      ? `${who} did not answer ${questionText(query.question)} over TCP within ${waitedMs} ms (${frames.progress()})`
      : `${who} did not accept a TCP connection within ${waitedMs} ms`;
    return exchangeFailed('DNS_TIMEOUT', what);
  };

  return limitedWait<TcpExchange>(
    limits,
    { timedOut, cancelled: () => cancelled(query.question, server), activity },
    (settle) => {
      const socket = net.connect({ host: server.address, port: server.port, noDelay: true });
      connection = socket;

      socket.on('connect', () => {
        connected = true;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(query.bytes.length);
        socket.write(Buffer.concat([length, query.bytes]));
      });
      socket.on('data', (chunk) => {
        frames.add(chunk);
        for (let bytes = frames.next(); bytes !== null; bytes = frames.next()) {
          const judged = matchStreamedResponse(bytes, query);
          if (judged.kind === 'answer') settle(judged);
          else if (judged.kind === 'malformed') settle(malformed(bytes, judged.problem));
          else skipped += 1;
          if (judged.kind !== 'unrelated') return;
          if (skipped > MAX_SKIPPED) {
            settle(malformed(bytes, 'it kept sending messages that answer another question'));
            return;
          }
        }
      });
      socket.on('error', (error) => {
        const what = connected ? 'broke the TCP connection' : 'cannot be reached over TCP';
        settle(socketFailed(error, server, what));
      });
      socket.on('end', () => {
        const who = `${serverText(server)} closed the TCP connection`;
        settle(
          frames.isEmpty
            ? exchangeFailed('DNS_UNREACHABLE', `${who} without an answer`)
            : exchangeFailed(
                'DNS_MALFORMED',
                `${who} in the middle of an answer (${frames.progress()})`,
              ),
        );
      });

      return () => {
        socket.removeAllListeners();
        socket.on('error', () => {});
        socket.destroy();
      };
    },
  );

  function activity(): PeerActivity {
    const sockets = limits.starvation?.sockets ?? null;
    return connection === null ? UNKNOWN_ACTIVITY : peerActivity(sockets, connection, !connected);
  }

  function malformed(bytes: Buffer, problem: string): ExchangeFailed {
    const what = `${serverText(server)} answered over TCP with ${bytes.length} bytes that are no DNS answer`;
    return exchangeFailed('DNS_MALFORMED', `${what}: ${problem}`);
  }
}

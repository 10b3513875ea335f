import net from 'node:net';
import { type PeerActivity, peerActivity, UNKNOWN_ACTIVITY } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';
import {
  cancelled,
  exchangeFailed,
  questionText,
  type ServerAddress,
  serverText,
  socketFailed,
} from './exchange-failures.ts';
import type { Query } from './message/query.ts';
import { framedMessage, readResponse, type StreamExchange } from './stream-response.ts';

/** One question over TCP (RFC 7766). */
export function exchangeOverTcp(
  query: Query,
  server: ServerAddress,
  limits: Limits,
): Promise<StreamExchange> {
  const startMs = limits.clock.monotonicMs();
  let connection: net.Socket | null = null;
  let connected = false;
  let progress = (): string => '';

  const timedOut = (): StreamExchange => {
    const waitedMs = Math.round(limits.clock.monotonicMs() - startMs);
    const who = serverText(server);
    const what = connected
      ? `${who} did not answer ${questionText(query.question)} over TCP within ${waitedMs} ms (${progress()})`
      : `${who} did not accept a TCP connection within ${waitedMs} ms`;
    return exchangeFailed('DNS_TIMEOUT', what);
  };

  return limitedWait<StreamExchange>(
    limits,
    { timedOut, cancelled: () => cancelled(query.question, server), activity },
    (settle) => {
      const socket = net.connect({ host: server.address, port: server.port, noDelay: true });
      connection = socket;

      socket.on('connect', () => {
        connected = true;
        socket.write(framedMessage(query.bytes));
      });
      const frames = readResponse(socket, query, { server, over: 'TCP' }, settle);
      progress = () => frames.progress();
      socket.on('error', (error) => {
        const what = connected ? 'broke the TCP connection' : 'cannot be reached over TCP';
        settle(socketFailed(error, server, what));
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
}

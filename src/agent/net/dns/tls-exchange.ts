import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { peerActivity } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';
import { failureOfTlsAlert } from '../tls/tls-alerts.ts';
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

/**
 * One question over a TLS connection whose certificate was checked (RFC 7858 3.3). Closes the
 * connection.
 *
 * @param wire the connection under TLS
 */
export function exchangeOverTls(
  { socket, wire }: { readonly socket: TLSSocket; readonly wire: Socket },
  query: Query,
  server: ServerAddress,
  limits: Limits,
): Promise<StreamExchange> {
  const startMs = limits.clock.monotonicMs();
  const close = (): void => {
    socket.removeAllListeners();
    socket.on('error', () => {});
    socket.destroy();
    wire.destroy();
  };
  let progress = (): string => '';

  const timedOut = (): StreamExchange => {
    const waitedMs = Math.round(limits.clock.monotonicMs() - startMs);
    const what = `${serverText(server)} did not answer ${questionText(query.question)} over TLS within ${waitedMs} ms (${progress()})`;
    return exchangeFailed('DNS_TIMEOUT', what);
  };
  const onCancel = (): StreamExchange => {
    close();
    return cancelled(query.question, server);
  };

  return limitedWait<StreamExchange>(
    limits,
    {
      timedOut,
      cancelled: onCancel,
      activity: () => peerActivity(limits.starvation?.sockets ?? null, wire),
    },
    (settle) => {
      const broken = (error: unknown): void => {
        const alert = failureOfTlsAlert(error);
        if (alert === null) {
          settle(socketFailed(error, server, 'broke the TLS connection'));
          return;
        }
        const message = `${serverText(server)} ${alert.what} (${systemCodeOf(error)})`;
        settle(exchangeFailed(alert.code, message));
      };
      const frames = readResponse(socket, query, { server, over: 'TLS' }, settle);
      progress = () => frames.progress();
      socket.on('error', broken);
      socket.on('close', () => broken({ code: 'ECONNRESET' }));
      if (socket.destroyed) broken({ code: 'ECONNRESET' });
      else socket.write(framedMessage(query.bytes));
      return close;
    },
  );
}

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Failure } from '../../../model/result/error-codes.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { peerActivity } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';
import { failureOfTlsAlert } from './tls-alerts.ts';

/** Additional wait for a server whose verification takes longer than the rest of the handshake. */
const MARGIN_MS = 100;
const MAX_WAIT_MS = 1000;

export interface Secured {
  readonly socket: TLSSocket;
  /** The connection under TLS. */
  readonly wire: Socket;
  /** The server's name in messages. */
  readonly target: string;
  /** Milliseconds of connect and handshake, in which the server had to answer twice. */
  readonly tookMs: number;
}

/**
 * Why the server rejected the client's certificate after a handshake of TLS 1.3, in which the
 * client finishes first (RFC 8446 4.4.2.4); null if it did not. Waits only if the server requested
 * a certificate, for the first record or the close: most servers send a session ticket at once. For
 * a server that sends nothing, waits as long as connect and handshake took, and MARGIN_MS more.
 */
export function lateRejection(
  { socket, wire, target, tookMs }: Secured,
  limits: Limits,
): Promise<Failure | null> {
  if (!mayBeRejected(socket)) return Promise.resolve(null);
  const { clock } = limits;
  const waitMs = Math.min(MAX_WAIT_MS, tookMs + MARGIN_MS);
  const deadlineMs = Math.min(limits.deadlineMs, clock.monotonicMs() + waitMs);
  const ends = {
    timedOut: () => null,
    cancelled: () => null,
    activity: () => peerActivity(limits.starvation?.sockets ?? null, wire),
  };
  return limitedWait<Failure | null>({ ...limits, deadlineMs }, ends, (settle) => {
    const onError = (error: unknown): void => {
      const alert = failureOfTlsAlert(error);
      const message = `${target} ${alert?.what} (${systemCodeOf(error)})`;
      settle(alert === null ? null : { code: alert.code, message });
    };
    const onOther = (): void => settle(null);
    // At the end of the connection, this event comes before the error, and without data.
    const onReadable = (): void => {
      if (socket.readableLength > 0) settle(null);
    };
    socket.on('error', onError).on('session', onOther).on('close', onOther);
    socket.on('readable', onReadable);
    if (socket.closed) onOther();
    return () => {
      socket.off('error', onError).off('session', onOther).off('close', onOther);
      socket.off('readable', onReadable);
    };
  });
}

/** OpenSSL knows the peer's signature algorithms in a client only from a CertificateRequest. */
function mayBeRejected(socket: TLSSocket): boolean {
  return socket.getProtocol() === 'TLSv1.3' && socket.getSharedSigalgs().length > 0;
}

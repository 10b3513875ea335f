import type { Socket } from 'node:net';
import { type ConnectionOptions, connect, type PeerCertificate, TLSSocket } from 'node:tls';
import { peerActivity } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';
import { watchBytes } from '../watch-bytes.ts';

/**
 * OpenSSL accepts 100 KB of certificates, but skips HelloRequest (RFC 5246 7.4.1.1), which a server
 * could send forever.
 */
const MAX_HANDSHAKE_BYTES = 1024 * 1024;

export type NoHandshake =
  | { readonly ok: false; readonly ended: 'time-up' | 'cancelled' }
  | { readonly ok: false; readonly ended: 'error'; readonly error: unknown };
export type Handshake = { readonly ok: true; readonly socket: TLSSocket } | NoHandshake;

/**
 * Makes a TLS handshake as the client over a connected socket, and closes the connection if it
 * fails. Verifies nothing: the caller checks the certificate before it sends anything. The TLS
 * socket retains an error listener, like the one of openSocket.
 *
 * @param watch called with the TLS socket before the handshake starts
 */
export function tlsHandshake(
  connection: Socket,
  options: ConnectionOptions,
  limits: Limits,
  watch?: (socket: TLSSocket) => void,
): Promise<Handshake> {
  const ends = {
    timedOut: (): Handshake => ({ ok: false, ended: 'time-up' }),
    cancelled: (): Handshake => ({ ok: false, ended: 'cancelled' }),
    activity: () => peerActivity(limits.starvation?.sockets ?? null, connection),
  };
  // After an abort nothing begins that would close the connection.
  if (limits.signal.aborted) connection.destroy();
  return limitedWait<Handshake>(limits, ends, (settle) => {
    let finished = false;
    // Node would wait forever on a socket without a handle.
    if (connection.destroyed || connection.readableEnded) {
      settle({ ok: false, ended: 'error', error: { code: 'ECONNRESET' } });
      return () => connection.destroy();
    }
    const socket = connect({
      ...options,
      socket: connection,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    });
    const restore = withoutReadingTheChain(socket);
    const onSecure = (): void => {
      finished = true;
      restore();
      settle({ ok: true, socket });
    };
    const onError = (error: unknown): void => settle({ ok: false, ended: 'error', error });
    const onClose = (): void => onError({ code: 'ECONNRESET' });
    socket.once('secureConnect', onSecure);
    socket.once('error', onError);
    socket.once('close', onClose);
    socket.on('error', () => {});
    watch?.(socket);
    const stopWatching = watchBytes(connection, limits.clock, (bytes) => {
      if (bytes > MAX_HANDSHAKE_BYTES) onError({ code: 'HANDSHAKE_FLOOD' });
    });
    return () => {
      stopWatching();
      socket.off('secureConnect', onSecure);
      socket.off('error', onError);
      socket.off('close', onClose);
      if (finished) return;
      socket.destroy();
      connection.destroy();
    };
  });
}

/**
 * Before it emits secureConnect, Node reads the peer's whole chain for checkServerIdentity, which
 * takes a third of a handshake's processor time. Our own check comes later and needs only the leaf.
 */
function withoutReadingTheChain(socket: TLSSocket): () => void {
  const readLeaf = (detailed?: boolean): PeerCertificate | Record<string, never> =>
    detailed === true ? {} : TLSSocket.prototype.getPeerCertificate.call(socket, false);
  Object.defineProperty(socket, 'getPeerCertificate', { configurable: true, value: readLeaf });
  return () => Reflect.deleteProperty(socket, 'getPeerCertificate');
}

import { connect, type Socket } from 'node:net';
import { systemCodeOf } from '../../runtime/errors.ts';
import type { SocketState } from './kernel/kernel-sockets.ts';
import { socketState } from './kernel/kernel-sockets.ts';
import { peerActivity, UNKNOWN_ACTIVITY } from './kernel/peer-activity.ts';
import { type Limits, limitedWait } from './limited-wait.ts';

export type NotOpened =
  | {
      readonly ok: false;
      readonly ended: 'time-up';
      /** How often the kernel repeated the SYN; 0 if it does not report it. */
      readonly synsRepeated: number;
    }
  | { readonly ok: false; readonly ended: 'cancelled' }
  | { readonly ok: false; readonly ended: 'error'; readonly systemCode: string };
export type Opened =
  | {
      readonly ok: true;
      readonly socket: Socket;
      readonly handshake: SocketState | null;
    }
  | NotOpened;

/**
 * Opens one TCP connection to one address. The socket sends small packets at once and retains an
 * error listener: an error while its users have none must not end the process.
 */
export function openSocket(address: string, port: number, limits: Limits): Promise<Opened> {
  const sockets = limits.starvation?.sockets ?? null;
  let opening: Socket | null = null;
  const ends = {
    timedOut: (): Opened => {
      const state = opening === null ? null : socketState(sockets, opening);
      return { ok: false, ended: 'time-up', synsRepeated: state?.retransmits ?? 0 };
    },
    cancelled: (): Opened => ({ ok: false, ended: 'cancelled' }),
    activity: () => (opening === null ? UNKNOWN_ACTIVITY : peerActivity(sockets, opening, true)),
  };
  return limitedWait(limits, ends, (settle) => {
    let connected = false;
    const socket = connect({ host: address, port, noDelay: true, autoSelectFamily: false });
    opening = socket;
    const onConnect = (): void => {
      if (isSelfConnection(socket, port)) {
        settle({ ok: false, ended: 'error', systemCode: 'ECONNREFUSED' });
        return;
      }
      connected = true;
      settle({ ok: true, socket, handshake: socketState(sockets, socket) });
    };
    const onError = (error: Error): void =>
      settle({ ok: false, ended: 'error', systemCode: systemCodeOf(error) ?? 'UNKNOWN' });
    socket.once('connect', onConnect);
    socket.once('error', onError);
    socket.on('error', () => {});
    return () => {
      socket.off('connect', onConnect);
      socket.off('error', onError);
      if (!connected) socket.destroy();
    };
  });
}

/**
 * A connection to a free port of this machine may get that port as its own by chance. TCP then
 * connects it to itself (RFC 9293 3.5, simultaneous open): nothing listens there.
 */
function isSelfConnection(socket: Socket, port: number): boolean {
  return socket.localPort === port && socket.localAddress === socket.remoteAddress;
}

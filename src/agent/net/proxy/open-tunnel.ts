import type { Socket } from 'node:net';
import {
  requestTunnel,
  type TunnelRefusal,
  type TunnelRequest,
} from '../../../runtime/net/proxy/request-tunnel.ts';
import { peerActivity } from '../kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../limited-wait.ts';

export type NoTunnel =
  | { readonly ok: false; readonly ended: 'time-up' | 'cancelled' }
  | TunnelRefusal;
export type Tunnelled = { readonly ok: true } | NoTunnel;

/** Requests a tunnel and waits for the answer. Closes the connection on a failure. */
export function openTunnel(
  socket: Socket,
  request: TunnelRequest,
  limits: Limits,
): Promise<Tunnelled> {
  const ends = {
    timedOut: (): Tunnelled => ({ ok: false, ended: 'time-up' }),
    cancelled: (): Tunnelled => ({ ok: false, ended: 'cancelled' }),
    activity: () => peerActivity(limits.starvation?.sockets ?? null, socket),
  };
  return limitedWait<Tunnelled>(limits, ends, (settle) => requestTunnel(socket, request, settle));
}

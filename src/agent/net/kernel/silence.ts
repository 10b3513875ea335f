import type { Socket } from 'node:net';
import { type KernelSockets, type SocketState, TCP_STATE, TICK_MS } from './kernel-sockets.ts';
import { stateOf } from './socket-state.ts';

/**
 * How a peer stands at a deadline:
 * - `arrived`: something of it waits in the kernel, which our event loop has not read yet
 * - `silent`: nothing came from it since we last sent something, for so long
 * - `unknown`: the kernel cannot be asked
 */
export type Silence =
  | { readonly kind: 'arrived' }
  | { readonly kind: 'silent'; readonly ms: number }
  | { readonly kind: 'unknown' };

export const UNKNOWN_SILENCE: Silence = { kind: 'unknown' };

/**
 * Asks the kernel.
 *
 * @param connecting the connection was asked for when the wait began, and is not there yet
 */
export function silenceOn(
  sockets: KernelSockets | null,
  socket: Socket,
  connecting = false,
): Silence {
  const state = stateOf(sockets, socket);
  if (state === null) return UNKNOWN_SILENCE;
  return connecting ? whileConnecting(state) : afterConnecting(state);
}

/** In less, the kernel's ticks tell nothing. */
export const MIN_PEER_MS = 2 * TICK_MS;

/**
 * By the kernel, how long the peer took at least from when we last sent something until data last
 * came, whenever we read it; 0 where the kernel cannot be asked. To be called when data has come.
 */
export function peerTookMs(sockets: KernelSockets | null, socket: Socket): number {
  const state = stateOf(sockets, socket);
  if (state === null) return 0;
  return Math.max(0, state.sinceSentMs - state.sinceReceivedMs - TICK_MS);
}

function whileConnecting({ state }: SocketState): Silence {
  // The SYN went out when the wait began.
  if (state === TCP_STATE.synSent) return { kind: 'silent', ms: Number.POSITIVE_INFINITY };
  return { kind: 'arrived' };
}

function afterConnecting(found: SocketState): Silence {
  const { state, unreadBytes, sinceSentMs, sinceReceivedMs } = found;
  const hasEnded = state === TCP_STATE.closed || state === TCP_STATE.closeWait;
  if (unreadBytes > 0 || hasEnded) return { kind: 'arrived' };
  return { kind: 'silent', ms: Math.min(sinceSentMs, sinceReceivedMs) };
}

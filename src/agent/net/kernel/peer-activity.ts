import type { Socket } from 'node:net';
import {
  type KernelSockets,
  type SocketState,
  socketState,
  TCP_STATE,
  TICK_MS,
} from './kernel-sockets.ts';

/**
 * State of a peer at a deadline:
 * - `arrived`: the kernel has data or an event from it that our event loop has not read yet
 * - `silent`: nothing has arrived from it for `ms`, counted from our last send at the earliest
 * - `unknown`: the kernel's state is not available
 */
export type PeerActivity =
  | { readonly kind: 'arrived' }
  | { readonly kind: 'silent'; readonly ms: number }
  | { readonly kind: 'unknown' };

export const UNKNOWN_ACTIVITY: PeerActivity = { kind: 'unknown' };

/**
 * Reads the peer's state from the kernel.
 *
 * @param connecting the connection was started when the wait began, and is not established yet
 */
export function peerActivity(
  sockets: KernelSockets | null,
  socket: Socket,
  connecting = false,
): PeerActivity {
  const state = socketState(sockets, socket);
  if (state === null) return UNKNOWN_ACTIVITY;
  return connecting ? whileConnecting(state) : afterConnecting(state);
}

/** Shorter times are below the resolution of the kernel's ticks. */
export const MIN_PEER_MS = 2 * TICK_MS;

/**
 * The kernel's lower bound of the time from our last send to the last arrival of data, whenever we
 * read it; 0 if the kernel's state is not available. Call it when data has arrived.
 */
export function peerTookMs(sockets: KernelSockets | null, socket: Socket): number {
  const state = socketState(sockets, socket);
  if (state === null) return 0;
  return Math.max(0, state.sinceSentMs - state.sinceReceivedMs - TICK_MS);
}

function whileConnecting({ state }: SocketState): PeerActivity {
  // The SYN went out when the wait began.
  if (state === TCP_STATE.synSent) return { kind: 'silent', ms: Number.POSITIVE_INFINITY };
  return { kind: 'arrived' };
}

function afterConnecting(found: SocketState): PeerActivity {
  const { state, unreadBytes, sinceSentMs, sinceReceivedMs } = found;
  const hasEnded = state === TCP_STATE.closed || state === TCP_STATE.closeWait;
  if (unreadBytes > 0 || hasEnded) return { kind: 'arrived' };
  return { kind: 'silent', ms: Math.min(sinceSentMs, sinceReceivedMs) };
}

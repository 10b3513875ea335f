import type { Socket } from 'node:net';
import { type KernelSockets, socketState } from './kernel-sockets.ts';

/** A burst of this many segments leaves at once: Linux's initial congestion window is 10. */
const MAX_SEGMENTS_AT_ONCE = 4;

/** Bytes that Node has handed to the kernel; 0 if it does not report them. */
export function writtenBytes(wire: Socket): number {
  const { _handle: handle } = wire as Socket & { _handle?: { bytesWritten?: number } | null };
  return handle?.bytesWritten ?? 0;
}

/**
 * The earliest monotonic instant at which `bytes`, the last that were written, may have been sent,
 * from the tick in which the kernel sent them. null if they may have been sent in several parts, or
 * again, or if the kernel's state is not available.
 *
 * @param nowMs read after they were written
 */
export function earliestSendMs(
  sockets: KernelSockets | null,
  wire: Socket,
  { bytes, nowMs }: { readonly bytes: number; readonly nowMs: number },
): number | null {
  const state = socketState(sockets, wire);
  if (sockets === null || state === null || state.retransmits > 0) return null;
  if (bytes > MAX_SEGMENTS_AT_ONCE * state.mss) return null;
  const ticks = Math.round(state.sinceSentMs / sockets.tickMs);
  return nowMs - sockets.sinceTickMs() - ticks * sockets.tickMs;
}

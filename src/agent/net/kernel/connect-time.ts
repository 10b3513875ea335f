import type { Clock } from '../../../runtime/clock.ts';
import type { StarvationMark, StarvationWatch } from '../starvation-watch.ts';
import { handshakeMs, type SocketState } from './kernel-sockets.ts';

interface Parts {
  readonly clock: Clock;
  readonly starvation?: StarvationWatch | undefined;
}

/** An instant at which connecting began or ended. */
export interface ConnectInstant {
  /** Monotonic. */
  readonly atMs: number;
  readonly mark: StarvationMark | undefined;
}

/** Reads the clock before the starvation: starvation between the two then stays uncertain. */
export function connectsFrom({ clock, starvation }: Parts): ConnectInstant {
  return { atMs: clock.monotonicMs(), mark: starvation?.mark() };
}

/**
 * The kernel's time of a handshake, from SYN to SYN-ACK, in milliseconds; 0 if the kernel has none,
 * or one that is longer than the time that passed.
 *
 * @param endMs monotonic
 */
export function kernelConnectMs(
  since: ConnectInstant,
  handshake: SocketState | null,
  endMs: number,
): number {
  const roundTripMs = handshake === null ? null : handshakeMs(handshake);
  return roundTripMs === null || roundTripMs > endMs - since.atMs ? 0 : roundTripMs;
}

/** Excludes the time from the SYN-ACK until the event loop saw it from the attempt's times. */
export function noteKernelConnect(
  since: ConnectInstant,
  end: ConnectInstant,
  kernelMs: number,
  starvation: StarvationWatch | undefined,
): void {
  if (since.mark === undefined || end.mark === undefined) return;
  const unseenMs = end.atMs - since.atMs - kernelMs;
  starvation?.timedByKernel({ since: since.mark, until: end.mark, unseenMs, uncertainMs: 0 });
}

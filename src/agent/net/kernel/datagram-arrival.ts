import type { Socket } from 'node:dgram';
import type { Clock } from '../../../runtime/clock.ts';
import type { KernelSockets } from './kernel-sockets.ts';

/** A larger drift of the wall clock against the monotonic clock means that it was set. */
const CLOCK_STEP_MS = 2;
/** Arrival and clock are read within READING_MS of each other; at most READINGS attempts. */
const READING_MS = 0.05;
const READINGS = 3;

/**
 * Reports when datagrams of one socket arrived, however late the event loop reads them. Node reads
 * one datagram at a time and hands it over before the next, so inside of a `message` listener the
 * stamp of the one read last (SIOCGSTAMPNS) is that of the message.
 */
export class DatagramArrival {
  readonly #fd: number;
  readonly #sockets: KernelSockets;
  readonly #clock: Clock;
  readonly #wallAheadMs: number;

  /** null if no kernel time is available. Call it on a bound socket before it sends. */
  static watch(
    sockets: KernelSockets | null,
    socket: Socket,
    clock: Clock,
  ): DatagramArrival | null {
    const fd = sockets === null ? null : descriptorOf(socket);
    return sockets === null || fd === null ? null : new DatagramArrival(sockets, fd, clock);
  }

  private constructor(sockets: KernelSockets, fd: number, clock: Clock) {
    this.#sockets = sockets;
    this.#fd = fd;
    this.#clock = clock;
    this.#wallAheadMs = clock.wallMs() - clock.monotonicMs();
    sockets.stampArrivals(fd);
  }

  /** Monotonic instant at which the message arrived; null if the kernel does not report it. */
  atMs(): number | null {
    const clock = this.#clock;
    for (let reading = 0; reading < READINGS; reading += 1) {
      const beforeMs = clock.monotonicMs();
      const agoMs = this.#sockets.sinceArrivalMs(this.#fd);
      const nowMs = clock.monotonicMs();
      if (agoMs === null) return null;
      if (nowMs - beforeMs > READING_MS) continue;
      const steppedMs = clock.wallMs() - nowMs - this.#wallAheadMs;
      return Math.abs(steppedMs) > CLOCK_STEP_MS ? null : nowMs - agoMs;
    }
    return null;
  }
}

/** Node has it under a symbol; without it, the event loop's time is used. */
function descriptorOf(socket: Socket): number | null {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  if (symbol === undefined) return null;
  const state = Reflect.get(socket, symbol) as {
    readonly handle?: { readonly fd?: number } | null;
  };
  const fd = state.handle?.fd ?? -1;
  return fd < 0 ? null : fd;
}

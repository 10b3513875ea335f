import type { Socket } from 'node:dgram';
import type { Clock } from '../../../runtime/clock.ts';
import type { KernelSockets } from './kernel-sockets.ts';

/** The wall clock was set where it moved against ours by more than its own coarseness. */
const CLOCK_STEP_MS = 2;
/** The arrival and our clock are read within so long of each other, or again, so often at most. */
const READING_MS = 0.05;
const READINGS = 3;

/**
 * Tells when datagrams of one socket arrived, however late the event loop reads them. Node reads
 * one datagram at a time and hands it over before the next, so inside of a `message` listener the
 * stamp of the one read last (SIOCGSTAMPNS) is that of the message.
 */
export class DatagramArrival {
  readonly #fd: number;
  readonly #sockets: KernelSockets;
  readonly #clock: Clock;
  readonly #wallAheadMs: number;

  /** null where the kernel cannot be asked. To be called on a socket that is bound, before it sends. */
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

  /** Monotonic instant at which the message arrived; null where the kernel does not tell. */
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

/** Node keeps it in a property that is no name's; without it the event loop's time stands. */
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

import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';

/** Interval of the checks, and thereby the CPU time that a flood costs before it is noticed. */
const CHECK_EVERY_MS = 100;

/**
 * Reports every 100 ms how many bytes have arrived since the call, until the returned function is
 * called. TLS and HTTP/2 have messages that raise no event: only these bytes show them.
 */
export function watchBytes(
  socket: Pick<Socket, 'bytesRead'>,
  clock: Clock,
  report: (bytes: number) => void,
): CancelTimer {
  const startBytes = socket.bytesRead;
  let cancelTimer: CancelTimer = () => {};
  let stopped = false;
  const wait = (): void => {
    cancelTimer = clock.after(CHECK_EVERY_MS, () => {
      report(socket.bytesRead - startBytes);
      if (!stopped) wait();
    });
  };
  wait();
  return () => {
    stopped = true;
    cancelTimer();
  };
}

import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';

/** A flood costs at most so much of processor time before it is noticed. */
const LOOK_EVERY_MS = 100;

/**
 * Tells every 100 ms how many bytes a connection has brought since the call, until the function
 * returned is called. TLS and HTTP/2 have messages that raise no event: only these bytes show them.
 */
export function watchBytes(
  socket: Pick<Socket, 'bytesRead'>,
  clock: Clock,
  look: (bytes: number) => void,
): CancelTimer {
  const startBytes = socket.bytesRead;
  let cancelTimer: CancelTimer = () => {};
  let stopped = false;
  const wait = (): void => {
    cancelTimer = clock.after(LOOK_EVERY_MS, () => {
      look(socket.bytesRead - startBytes);
      if (!stopped) wait();
    });
  };
  wait();
  return () => {
    stopped = true;
    cancelTimer();
  };
}

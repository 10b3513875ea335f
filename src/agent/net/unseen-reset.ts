import type { Socket } from 'node:net';

/**
 * Whether the `end` that a socket just emitted was a reset: libuv takes one that comes along with
 * data for a normal end. The peer's address is asked for here for the first time, since only a
 * connection that was reset has none; who asks before makes Node remember it.
 */
export function endedByReset(socket: Socket): boolean {
  return !socket.destroyed && socket.remoteAddress === undefined;
}

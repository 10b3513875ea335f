import type { Socket } from 'node:net';

/**
 * Whether the `end` that a socket just emitted was a reset: libuv reports a reset that arrives with
 * data as a normal end. Only a reset connection has no peer address. Nothing may read the address
 * before this, because Node caches it.
 */
export function endedByReset(socket: Socket): boolean {
  return !socket.destroyed && socket.remoteAddress === undefined;
}

import type { Socket } from 'node:net';
import type { KernelSockets, SocketState } from './kernel-sockets.ts';

/** null if the socket is closed or the kernel's state is not available. Takes microseconds. */
export function stateOf(sockets: KernelSockets | null, socket: Socket): SocketState | null {
  if (sockets === null) return null;
  const fd = descriptorOf(socket);
  return fd === null ? null : sockets.read(fd);
}

/**
 * How long a connection took by the kernel, from the SYN to the SYN-ACK, however late our event
 * loop saw it. null where it does not tell: a repeated SYN leaves open which of them was answered.
 *
 * @param state right after connecting: as soon as data is sent the kernel smooths later samples in
 */
export function handshakeMs({ rttMs, retransmits }: SocketState): number | null {
  return retransmits === 0 && rttMs > 0 ? rttMs : null;
}

/** The handle has it, which is gone as soon as the socket is closed. */
function descriptorOf(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  return socket.destroyed || fd < 0 ? null : fd;
}

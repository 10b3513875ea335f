import { once } from 'node:events';
import { connect } from 'node:net';

export interface SilentConnections {
  /** How many connections the server has not closed. */
  readonly open: () => number;
  write(bytes: string): void;
  close(): void;
}

/**
 * Idle connections that do not even close: each leaves its half open when the server ends its own.
 */
export async function openSilent(
  port: number,
  count: number,
  localAddress = '127.0.0.1',
): Promise<SilentConnections> {
  let open = count;
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    let isOpen = true;
    const ended = (): void => {
      if (isOpen) open -= 1;
      isOpen = false;
    };
    return socket.on('error', ended).once('end', ended).once('close', ended).resume();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return {
    open: () => open,
    write: (bytes) => {
      for (const socket of sockets) socket.write(bytes);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

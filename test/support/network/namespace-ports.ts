import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { makeTestFolder } from '../process/test-folder.ts';
import type { NetworkNamespace } from './network-namespace.ts';

const SCRIPT = fileURLToPath(new URL('namespace-ports.mjs', import.meta.url));

/** Handles a connection that came in by a port of the namespace. */
export type OnConnection = (socket: Socket) => void;

/** Leads to a port of this machine's own loopback. */
export function forwardTo(port: number): OnConnection {
  return (socket) => {
    const onward = connect(port, '127.0.0.1');
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  };
}

/** Opens ports on the loopback of the namespace that lead out of it; removed when the test ends. */
export async function openPorts(
  namespace: NetworkNamespace,
  ports: Readonly<Record<number, OnConnection>>,
): Promise<void> {
  const folder = makeTestFolder();
  const opened: { readonly port: number; readonly path: string }[] = [];
  for (const [port, onConnection] of Object.entries(ports)) {
    const path = join(folder, port);
    await serve(path, onConnection);
    opened.push({ port: Number(port), path });
  }
  const child = namespace.start(process.execPath, SCRIPT, JSON.stringify(opened));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  await once(child.stdout, 'data');
}

/** Its connections end with the test as well. */
async function serve(path: string, onConnection: OnConnection): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
}

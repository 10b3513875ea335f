import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
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

/**
 * Opens ports of the namespace that lead out of it; removed when the test ends.
 *
 * @param host the address of the namespace at which they are open
 */
export async function openPorts(
  namespace: NetworkNamespace,
  ports: Readonly<Record<number, OnConnection>>,
  host = LOOPBACK,
): Promise<void> {
  const folder = makeTestFolder();
  const relays: Relay[] = [];
  for (const [port, onConnection] of Object.entries(ports)) {
    const path = join(folder, port);
    await serve({ path }, onConnection);
    relays.push({ from: { port: Number(port), host }, to: { path } });
  }
  await relayInside(namespace, relays);
}

/**
 * Opens a port of this machine's own loopback that leads to a port on the loopback of the namespace,
 * whether or not something listens there yet; removed when the test ends.
 */
export async function openEntry(namespace: NetworkNamespace, port: number): Promise<number> {
  const path = join(makeTestFolder(), 'entry');
  await relayInside(namespace, [{ from: { path }, to: { port, host: LOOPBACK } }]);
  const server = await serve({ port: 0, host: LOOPBACK }, (socket) => {
    const inside = connect(path);
    socket.on('error', () => inside.destroy());
    inside.on('error', () => socket.destroy());
    socket.pipe(inside).pipe(socket);
  });
  return (server.address() as AddressInfo).port;
}

const LOOPBACK = '127.0.0.1';

/** A port or a Unix socket. */
type End = { readonly port: number; readonly host: string } | { readonly path: string };

interface Relay {
  readonly from: End;
  readonly to: End;
}

async function relayInside(namespace: NetworkNamespace, relays: readonly Relay[]): Promise<void> {
  const child = namespace.start(process.execPath, SCRIPT, JSON.stringify(relays));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  await once(child.stdout, 'data');
}

/** Its connections end with the test as well. */
async function serve(at: End, onConnection: OnConnection): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(at);
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return server;
}

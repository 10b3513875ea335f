import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A port of this machine, with or without a target. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

export interface ListeningServer extends Listening {
  /** Connections so far. */
  readonly accepted: number;
  /** Open connections: 0 after a complete cleanup. */
  readonly open: number;
  /** Resolves when no connection is open any more. */
  allClosed(): Promise<void>;
}

/** Listens on a free port of loopback; `onConnection` acts as the target. */
export function listenTcp(
  onConnection: (socket: Socket) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<ListeningServer> {
  return listening(createServer(onConnection), host, port);
}

/** Starts any server based on node:net, and ends its connections with it. */
export async function listening(
  server: Server,
  host = '127.0.0.1',
  port = 0,
): Promise<ListeningServer> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  let onAllClosed: (() => void) | null = null;
  server.on('connection', (socket) => {
    accepted += 1;
    sockets.add(socket);
    // Errors that the tests cause on a target's connection are not faults of the target.
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) onAllClosed?.();
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: portOf(server),
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    async allClosed() {
      if (sockets.size === 0) return;
      await new Promise<void>((resolve) => {
        onAllClosed = resolve;
      });
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * A port that refuses connections and that no other process can get meanwhile: it is the local port
 * of an open connection, and nothing listens there.
 */
export async function refusingPort(host = '127.0.0.1'): Promise<Listening> {
  const server = await listenTcp(() => {}, host);
  const holder = connect({ host, port: server.port });
  await once(holder, 'connect');
  const { localPort = 0 } = holder;
  return {
    port: localPort,
    async close() {
      holder.destroy();
      await server.close();
    },
  };
}

/**
 * A port that never answers: a listener that never accepts, with a full queue, so that the kernel
 * drops every further SYN. It listens in a blocked thread, until `accept` lets it accept all
 * connections.
 */
export async function blackHole(
  host = '127.0.0.1',
  port = 0,
): Promise<Listening & { readonly accept: () => void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(BLOCKED_LISTENER, { eval: true, workerData: { gate, host, port } });
  const [ownPort] = (await once(thread, 'message')) as [number];
  // The kernel's queue holds one more than the backlog of 1.
  const fillers = [await connected(host, ownPort), await connected(host, ownPort)];
  const release = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return {
    port: ownPort,
    accept: release,
    async close() {
      for (const socket of fillers) socket.destroy();
      const exited = once(thread, 'exit');
      thread.postMessage('close');
      release();
      await exited;
    },
  };
}

const BLOCKED_LISTENER = `
  const { parentPort, workerData: { gate, host, port } } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => socket.on('error', () => {}).resume());
  server.on('connection', (socket) => parentPort.once('message', () => socket.destroy()));
  parentPort.once('message', () => server.close());
  server.listen({ port, host, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(gate, 0, 0);
  });
`;

async function connected(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

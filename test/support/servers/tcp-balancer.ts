import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listening } from './tcp-servers.ts';

/** A TCP load balancer in front of the replicas of a service. */
export interface Balancer {
  readonly url: string;
  readonly port: number;
  /** How many connections each port got so far. */
  readonly given: ReadonlyMap<number, number>;
}

/**
 * Forwards each connection to the next port, by rotation, that accepts it. Cuts the client's
 * connection if none does, or if the replica disappears. Ends with the test.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const given = new Map<number, number>();
  let turn = 0;
  const connectNext = async (): Promise<Socket | null> => {
    turn += 1;
    for (let tries = 0; tries < ports.length; tries += 1) {
      const port = ports[(turn + tries) % ports.length] ?? 0;
      const socket = connect(port, '127.0.0.1');
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      if (isOpen) {
        given.set(port, (given.get(port) ?? 0) + 1);
        return socket;
      }
    }
    return null;
  };
  const server = await listening(
    createServer({ pauseOnConnect: true }, (client) => {
      void connectNext().then((replica) => {
        if (replica === null) client.resetAndDestroy();
        else join(client, replica);
      });
    }),
  );
  onTestFinished(() => server.close());
  return { port: server.port, url: `http://127.0.0.1:${server.port}`, given };
}

function join(client: Socket, replica: Socket): void {
  for (const [from, to] of [
    [client, replica],
    [replica, client],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.resetAndDestroy());
    from.once('close', () => to.destroy());
  }
  if (client.destroyed) replica.destroy();
}

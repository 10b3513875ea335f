import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type RunningAgent, startAgent, testFolder } from './deployment.ts';
import { NetworkNamespace } from './network-namespace.ts';

const DOORS = fileURLToPath(new URL('namespace-doors.mjs', import.meta.url));
const SERVICE_PORT = 8080;
/** On the loopback of every namespace. */
export const TARGET_PORT = 9000;

/** Where the doors of the namespace lead. */
export interface Outside {
  readonly servicePort: number;
  readonly onTarget: (socket: Socket) => void;
}

/**
 * A network of one agent's own, with one door to the service and one to the target, so that the
 * target knows who comes. Root only; it goes with the test.
 */
export class NamespacedAgent {
  readonly name: string;
  readonly #namespace: NetworkNamespace;
  readonly #dataDir = testFolder();

  private constructor(name: string, namespace: NetworkNamespace) {
    this.name = name;
    this.#namespace = namespace;
  }

  static async prepare(name: string, outside: Outside): Promise<NamespacedAgent> {
    const folder = testFolder();
    const [service, target] = [join(folder, 'service'), join(folder, 'target')];
    await serve(service, (socket) => {
      const onward = connect(outside.servicePort, '127.0.0.1');
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    await serve(target, outside.onTarget);

    const namespace = new NetworkNamespace();
    onTestFinished(() => namespace.remove());
    const doors = [
      { port: SERVICE_PORT, path: service },
      { port: TARGET_PORT, path: target },
    ];
    const child = namespace.start(process.execPath, DOORS, JSON.stringify(doors));
    const ended = once(child, 'close');
    onTestFinished(async () => {
      child.stdin.end();
      await ended;
    });
    await once(child.stdout, 'data');
    return new NamespacedAgent(name, namespace);
  }

  /** Always the same agent, by its DATA_DIR. */
  start(key: string): Promise<RunningAgent> {
    return startAgent({
      serviceUrl: `http://127.0.0.1:${SERVICE_PORT}`,
      key,
      dataDir: this.#dataDir,
      prefix: ['ip', 'netns', 'exec', this.#namespace.name],
    });
  }

  /** The ids of the checks that it has by what it keeps on disk, which is a second old at most. */
  share(): readonly string[] {
    const file = join(this.#dataDir, 'assignments.json');
    if (!existsSync(file)) return [];
    const kept: { readonly assignments: readonly { readonly checkId: string }[] } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    return kept.assignments.map(({ checkId }) => checkId);
  }

  /** From now on no packet reaches the service, or comes from it. The target is reached as before. */
  cutOff(): void {
    const drop = ['dport', 'sport'].map(
      (side) => `add rule inet cut out tcp ${side} ${SERVICE_PORT} drop`,
    );
    const chain = 'add chain inet cut out { type filter hook output priority 0; }';
    this.#namespace.run('nft', ['add table inet cut', chain, ...drop].join('; '));
  }

  reconnect(): void {
    this.#namespace.run('nft', 'delete table inet cut');
  }
}

/** Its connections end with the test, too. */
async function serve(path: string, onConnection: (socket: Socket) => void): Promise<void> {
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

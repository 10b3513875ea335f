import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readAssignments } from '../../../src/agent/source/service/assignment-file.ts';
import { assignmentsBox } from '../../../src/agent/source/service/sealed-lines.ts';
import { forwardTo, openPorts } from '../network/namespace-ports.ts';
import { NetworkNamespace } from '../network/network-namespace.ts';
import { makeTestFolder } from '../process/test-folder.ts';
import { type RunningAgent, startAgent } from '../service/deployment.ts';

const SERVICE_PORT = 8080;
/** On the loopback of every namespace. */
export const TARGET_PORT = 9000;

/** Where the namespace's ports lead. */
export interface Outside {
  readonly servicePort: number;
  readonly onTarget: (socket: Socket) => void;
}

/**
 * A network namespace for one agent, with one port that leads to the service and one to the target, so that
 * the target can identify the agent. Root only; removed when the test ends.
 */
export class NamespacedAgent {
  readonly name: string;
  readonly #namespace: NetworkNamespace;
  readonly #dataDir = makeTestFolder();
  #key = '';

  private constructor(name: string, namespace: NetworkNamespace) {
    this.name = name;
    this.#namespace = namespace;
  }

  static async prepare(name: string, outside: Outside): Promise<NamespacedAgent> {
    const namespace = new NetworkNamespace();
    onTestFinished(() => namespace.remove());
    await openPorts(namespace, {
      [SERVICE_PORT]: forwardTo(outside.servicePort),
      [TARGET_PORT]: outside.onTarget,
    });
    return new NamespacedAgent(name, namespace);
  }

  /** Starts the agent, always with the same DATA_DIR. */
  start(key: string): Promise<RunningAgent> {
    this.#key = key;
    return startAgent({
      serviceUrl: `http://127.0.0.1:${SERVICE_PORT}`,
      key,
      dataDir: this.#dataDir,
      prefix: ['ip', 'netns', 'exec', this.#namespace.name],
    });
  }

  /** The ids of its checks from its files, which are at most a second old. */
  async share(): Promise<readonly string[]> {
    const file = join(this.#dataDir, 'assignments.json');
    if (!existsSync(file)) return [];
    const { assignments } = await readAssignments(file, assignmentsBox(this.#key));
    return assignments.map(({ check }) => check.id);
  }

  /** Blocks all packets to and from the service. The target stays reachable. */
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

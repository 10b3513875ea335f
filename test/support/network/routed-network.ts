import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Traced } from '../../../src/agent/evidence/traceroute/tracer.ts';
import { NetworkNamespace } from './network-namespace.ts';

const DRIVER = fileURLToPath(new URL('traceroute-driver.mjs', import.meta.url));
const ROUTERS = 3;

/** A user without capabilities. */
export const NOBODY = 10_001;

export interface TraceOptions {
  /** Targets of concurrent traces. */
  readonly targets: readonly string[];
  /** The user and group of the tracer, without capabilities; root by default. */
  readonly user?: number;
  readonly limitMs?: number;
  /** Aborts all traces when the first child process of one exists. */
  readonly stopAtFirstProcess?: boolean;
  readonly programFolders?: readonly string[];
  /** Answers to PTR questions, by name. */
  readonly names?: Readonly<Record<string, string>>;
}

export interface TraceReport {
  readonly effectiveCapabilities: string;
  readonly method: string | null;
  readonly lack: string | null;
  readonly traced: readonly Traced[];
  readonly texts: readonly (string | null)[];
  readonly cpuMs: number;
  readonly processesBefore: number;
  readonly processesAfter: number;
}

/**
 * An agent's network, three routers in a row, and a target behind the last, each a namespace. Link
 * n of the four is 10.80.n.0/24 and fd80:n::/64; the end nearer to the agent is .1.
 */
export class RoutedNetwork {
  readonly agent: NetworkNamespace;
  readonly target: NetworkNamespace;
  readonly #nodes: readonly NetworkNamespace[];

  constructor() {
    this.#nodes = Array.from({ length: ROUTERS + 2 }, () => new NetworkNamespace());
    [this.agent, this.target] = [this.#node(0), this.#node(ROUTERS + 1)];
    for (const node of this.#nodes) {
      // Addresses are usable at once, and routers have no rate limit for ICMP errors.
      setAll(node, ['net.ipv6.conf.default.accept_dad=0', 'net.ipv4.icmp_ratelimit=0']);
      setAll(node, ['net.ipv6.icmp.ratelimit=0']);
    }
    for (let link = 1; link <= ROUTERS + 1; link += 1) this.#connect(link);
    for (let hop = 0; hop <= ROUTERS + 1; hop += 1) this.#route(hop);
  }

  /** Runs the agent's tracer from dist, in its own process inside the first network. */
  async trace(options: TraceOptions): Promise<TraceReport> {
    const child = this.agent.start('node', DRIVER, JSON.stringify(options));
    const [report] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return JSON.parse(report) as TraceReport;
  }

  /** Applies nft statements to the packets that a router forwards or sends. */
  rule(router: 1 | 2 | 3, hook: 'forward' | 'output', rule: string): void {
    const chain = `add chain inet routed ${hook}s { type filter hook ${hook} priority 0; }`;
    const statements = ['add table inet routed', chain, `add rule inet routed ${hook}s ${rule}`];
    this.#node(router).run('nft', statements.join('; '));
  }

  clearRules(): void {
    for (const node of this.#nodes) node.run('nft', 'flush', 'ruleset');
  }

  remove(): void {
    for (const node of this.#nodes) node.remove();
  }

  #node(hop: number): NetworkNamespace {
    const node = this.#nodes[hop];
    if (node === undefined) throw new Error(`there is no hop ${hop}`);
    return node;
  }

  #connect(link: number): void {
    const [near, far] = [this.#node(link - 1), this.#node(link)];
    const peer = ['type', 'veth', 'peer', 'name', 'back', 'netns', far.name];
    near.run('ip', 'link', 'add', 'onward', ...peer);
    for (const [node, device, host] of [
      [near, 'onward', 1],
      [far, 'back', 2],
    ] as const) {
      node.run('ip', 'address', 'add', `10.80.${link}.${host}/24`, 'dev', device);
      node.run('ip', 'address', 'add', `fd80:${link}::${host}/64`, 'dev', device, 'nodad');
      node.run('ip', 'link', 'set', device, 'up');
    }
  }

  #route(hop: number): void {
    const node = this.#node(hop);
    if (hop >= 1 && hop <= ROUTERS) {
      setAll(node, ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
    }
    for (let link = 1; link <= ROUTERS + 1; link += 1) {
      if (link === hop || link === hop + 1) continue;
      const isOnward = link > hop;
      const [v4, v6] = isOnward
        ? [`10.80.${hop + 1}.2`, `fd80:${hop + 1}::2`]
        : [`10.80.${hop}.1`, `fd80:${hop}::1`];
      node.run('ip', 'route', 'add', `10.80.${link}.0/24`, 'via', v4);
      node.run('ip', 'route', 'add', `fd80:${link}::/64`, 'via', v6);
    }
  }
}

function setAll(node: NetworkNamespace, settings: readonly string[]): void {
  node.run('sysctl', '-qw', ...settings);
}

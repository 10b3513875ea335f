import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { IcmpOutcome } from '../../../src/agent/probes/icmp/probe.ts';
import { endChild } from '../process/end-child.ts';
import type { NamespaceChild, NetworkNamespace } from './network-namespace.ts';

const RESPONDER = fileURLToPath(new URL('tun-responder.mjs', import.meta.url));
const DRIVER = fileURLToPath(new URL('icmp-driver.mjs', import.meta.url));

/** How a target on the far side of the TUN device handles an echo request. */
export interface Rule {
  readonly holdMs?: number;
  readonly does?: 'answer' | 'nothing' | 'unreachable' | 'forge' | 'twice';
}

interface Held {
  readonly target: string;
  /**
   * Time from the request leaving the device to the reply arriving there, from kernel timestamps:
   * the reference.
   */
  readonly heldMs: number;
  /** The last data byte: 55 for the agent's echoes. */
  readonly tail: number;
}

/** The responder behind a TUN device, which serves 10.77.0.0/24 and fd77::/64. */
export class TunResponder {
  readonly #held: Held[] = [];
  readonly #child: NamespaceChild;
  readonly #lines: Interface;

  private constructor(child: NamespaceChild) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
  }

  static async start(
    namespace: NetworkNamespace,
    targets: Readonly<Record<string, Rule>>,
  ): Promise<TunResponder> {
    const device = 'vtun0';
    const child = namespace.start('node', RESPONDER, device, JSON.stringify(targets));
    const started = new TunResponder(child);
    await once(started.#lines, 'line');
    started.#lines.on('line', (line) => started.#held.push(JSON.parse(line) as Held));
    namespace.run('ip', 'link', 'set', device, 'up');
    namespace.run('ip', 'address', 'add', '10.77.0.1/24', 'dev', device);
    namespace.run('ip', 'address', 'add', 'fd77::1/64', 'dev', device, 'nodad');
    return started;
  }

  stop(): Promise<void> {
    return endChild(this.#child, 'SIGTERM');
  }

  /**
   * The hold times of one target's first echoes, from the agent or others, once this many were
   * reported.
   */
  async heldMs(target: string, whose: 'agent' | 'others', count: number): Promise<number[]> {
    const matching = (): readonly Held[] =>
      this.#held.filter(
        (held) => held.target === target && (held.tail === 55) === (whose === 'agent'),
      );
    while (matching().length < count) await once(this.#lines, 'line');
    return matching().map(({ heldMs }) => heldMs);
  }
}

export interface DriverOptions {
  readonly requests: readonly {
    readonly hostname: string;
    readonly pingCount: number;
    readonly ipFamily: 'IPv4' | 'IPv6';
  }[];
  /** The user and group of the probe, without capabilities; root by default. */
  readonly user?: number;
  /** Concurrent runs of each request. */
  readonly copies?: number;
  /** Rounds of all requests, one after the other. */
  readonly rounds?: number;
  /** The driver pauses between rounds until it reads a line from its input. */
  readonly pause?: boolean;
  /** Blocks the driver's event loop for this time after each send. */
  readonly stallMs?: number;
  readonly names?: Readonly<Record<string, readonly string[]>>;
}

export interface DriverReport {
  readonly uid: number;
  readonly effectiveCapabilities: string;
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly runs: readonly { readonly outcome: IcmpOutcome; readonly log: readonly string[] }[];
}

/** Runs the agent's probe from dist, in its own process inside the namespace. */
export async function drive(
  namespace: NetworkNamespace,
  options: DriverOptions,
  betweenRounds: () => void = () => undefined,
): Promise<DriverReport> {
  const child = namespace.start('node', DRIVER, JSON.stringify(options));
  const lines = createInterface({ input: child.stdout });
  let report = '';
  lines.on('line', (line) => {
    if (line === 'pause') {
      betweenRounds();
      child.stdin.write('on\n');
    } else {
      report = line;
    }
  });
  await once(child, 'close');
  return JSON.parse(report) as DriverReport;
}

/** The reply times that ping prints, in milliseconds; one decimal at 20 ms. */
export async function pingCommand(
  namespace: NetworkNamespace,
  target: string,
  count: number,
): Promise<number[]> {
  const args = ['-n', '-c', String(count), '-i', '0.5', '-p', 'ff', target];
  const output = await text(namespace.start('ping', ...args).stdout);
  return [...output.matchAll(/time=([\d.]+) ms/g)].map(([, time]) => Number(time));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return (low + high) / 2;
}

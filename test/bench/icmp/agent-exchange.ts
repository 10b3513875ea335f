import { join } from 'node:path';
import type { NetworkNamespace } from '../../support/network/network-namespace.ts';
import { runToEnd } from '../support/child-process.ts';

const DRIVERS = join(import.meta.dirname, '../drivers');

export interface ExchangeOptions {
  readonly addresses: readonly string[];
  readonly warmUpEchoes: number;
  readonly echoes: number;
  /** Echoes in flight at once. */
  readonly inFlight: number;
}

export interface EchoRate {
  readonly perSecond: number;
  readonly cpuUsEach: number;
}

/** Sends echoes through the agent's exchange as fast as possible. @throws Error if one gets no reply */
export async function driveExchange(
  namespace: NetworkNamespace,
  options: ExchangeOptions,
): Promise<EchoRate> {
  const { tookMs, cpuMs, ends } = await drive<{
    readonly tookMs: number;
    readonly cpuMs: number;
    readonly ends: Readonly<Record<string, number>>;
  }>(namespace, 'icmp-exchange', options);
  const { echoes } = options;
  if (ends.answered !== echoes) {
    throw new Error(`of ${echoes} echoes of the agent's exchange came ${JSON.stringify(ends)}`);
  }
  return { perSecond: echoes / (tookMs / 1000), cpuUsEach: (cpuMs * 1000) / echoes };
}

export interface CheckOptions {
  /** The targets; each has one check. */
  readonly addresses: readonly string[];
  readonly pingCount: number;
  /** The checks start spread over this time. */
  readonly startWithinMs: number;
  /** Warm-up checks of one echo: a new process first compiles its code. */
  readonly warmUpChecks: number;
}

export interface CheckReport {
  readonly cpuMsEach: number;
  /** By address, in the order of its echoes. */
  readonly rttsMs: ReadonlyMap<string, readonly number[]>;
}

/** Runs whole ICMP probes, all at once. @throws Error if an echo gets no reply */
export async function driveChecks(
  namespace: NetworkNamespace,
  options: CheckOptions,
): Promise<CheckReport> {
  const { cpuMs, rttsMs } = await drive<{
    readonly cpuMs: number;
    readonly rttsMs: Readonly<Record<string, readonly (number | null)[]>>;
  }>(namespace, 'icmp-checks', options);
  const { addresses, pingCount } = options;
  return {
    cpuMsEach: cpuMs / addresses.length,
    rttsMs: new Map(
      addresses.map((address) => {
        const answered = (rttsMs[address] ?? []).filter((rttMs) => rttMs !== null);
        if (answered.length === pingCount) return [address, answered];
        throw new Error(
          `${address} answered ${answered.length} of the agent's ${pingCount} echoes`,
        );
      }),
    ),
  };
}

async function drive<Report>(
  namespace: NetworkNamespace,
  driver: string,
  options: object,
): Promise<Report> {
  const command = [process.execPath, join(DRIVERS, `${driver}.mjs`)];
  const { stdout } = await runToEnd('ip', ['netns', 'exec', namespace.name, ...command], {
    input: JSON.stringify(options),
  });
  return JSON.parse(stdout) as Report;
}

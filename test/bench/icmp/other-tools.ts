import type { NetworkNamespace } from '../../support/network/network-namespace.ts';
import { withBlackbox } from '../support/blackbox.ts';
import { type Finished, runToEnd } from '../support/child-process.ts';
import type { EchoRate } from './agent-exchange.ts';

const WARM_UP_SECONDS = 1;
const PINGS_AT_ONCE = 4;

/**
 * fping at its limit: no pause between sends, and each target again after a millisecond or when all
 * others had their turn. It can number 65,535 echoes in 10 s, so a run has fewer, and there are
 * several.
 */
export async function driveFping(
  namespace: NetworkNamespace,
  addresses: readonly string[],
  { echoesEach, runs }: { readonly echoesEach: number; readonly runs: number },
): Promise<EchoRate> {
  let cpuMs = 0;
  let seconds = 0;
  for (let run = 0; run < runs; run += 1) {
    const args = ['-q', '-s', '-c', String(echoesEach), '-i', '0', '-p', '1', '-t', '1000'];
    const finished = await inside(namespace, 'fping', args, addresses);
    cpuMs += finished.cpuMs;
    seconds += Number(/([\d.]+) sec \(elapsed real time\)/.exec(finished.stderr)?.[1]);
    const received = Number(/(\d+) ICMP Echo Replies received/.exec(finished.stderr)?.[1]);
    const sent = addresses.length * echoesEach;
    if (received !== sent) throw new Error(`fping received ${received} replies to ${sent} echoes`);
  }
  const echoes = addresses.length * echoesEach * runs;
  return { perSecond: echoes / seconds, cpuUsEach: (cpuMs * 1000) / echoes };
}

/** Round trips as fping prints them, with three digits; it spaces its requests like the agent. */
export async function fpingRtts(
  namespace: NetworkNamespace,
  addresses: readonly string[],
  count: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const args = ['-q', '-C', String(count), '-i', '0.4', '-p', '500', '-t', '2000'];
  const { stderr } = await inside(namespace, 'fping', args, addresses);
  const rttsMs = new Map<string, readonly number[]>();
  for (const [, address = '', times = ''] of stderr.matchAll(/^([\d.]+) +: (.+)$/gm)) {
    rttsMs.set(address, times.trim().split(' ').map(Number));
  }
  for (const address of addresses) {
    const answered = (rttsMs.get(address) ?? []).filter((rttMs) => !Number.isNaN(rttMs)).length;
    if (answered !== count) throw new Error(`${address} answered ${answered} of fping's ${count}`);
  }
  return rttsMs;
}

/** Round trips by ping, one process for each echo: only its summary has three decimals. */
export async function pingRtts(
  namespace: NetworkNamespace,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rttsMs = new Map<string, readonly number[]>();
  const waiting = [...addresses];
  const work = async (): Promise<void> => {
    for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
      const { stdout } = await inside(namespace, 'ping', ['-n', '-q', '-c', '1', address]);
      rttsMs.set(address, [Number(/= ([\d.]+)\//.exec(stdout)?.[1])]);
    }
  };
  await Promise.all(Array.from({ length: PINGS_AT_ONCE }, work));
  return rttsMs;
}

/** CPU milliseconds of a probe of the blackbox exporter, which sends one echo. */
export function driveBlackbox(
  namespace: NetworkNamespace,
  addresses: readonly string[],
  seconds: number,
): Promise<number> {
  const icmp = { prober: 'icmp', timeout: '5s', icmp: { preferred_ip_protocol: 'ip4' } };
  return withBlackbox(
    { icmp },
    async (blackbox) => {
      await blackbox.drive('icmp', addresses, WARM_UP_SECONDS);
      return (await blackbox.drive('icmp', addresses, seconds)).cpuMsEach;
    },
    ['ip', 'netns', 'exec', namespace.name],
  );
}

function inside(
  namespace: NetworkNamespace,
  program: string,
  args: readonly string[],
  lines: readonly string[] = [],
): Promise<Finished> {
  const command = ['netns', 'exec', namespace.name, program, ...args];
  return runToEnd('ip', command, { input: lines.join('\n') });
}

import { writeFileSync } from 'node:fs';
import type { NetworkNamespace } from '../../support/network-namespace.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { cpuMsOf } from '../cpu-time.ts';
import { type Finished, runToEnd, startChild } from '../rig/child.ts';
import type { EchoRate } from './ours.ts';

const PROBES_AT_ONCE = 32;
const BLACKBOX_PORT = 9115;
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

/** Round trips as fping prints them, with three digits; its sends are spread as the agent's are. */
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

/** Round trips by ping, a process an echo: its summary has the three decimals that its lines lack. */
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

/** Asks for each target in turn, and looks at every answer. */
const WRK_SCRIPT = `
  local targets = {}
  local turn = 0
  local threads = {}
  bad = 0
  function setup(thread) table.insert(threads, thread) end
  function init(args)
    for i = 1, #args do table.insert(targets, "/probe?module=icmp&target=" .. args[i]) end
  end
  function request()
    turn = turn + 1
    return wrk.format("GET", targets[turn % #targets + 1])
  end
  function response(status, headers, body)
    if status ~= 200 or not string.find(body, "probe_success 1", 1, true) then bad = bad + 1 end
  end
  function done(summary, latency, requests)
    local bad = 0
    for _, thread in ipairs(threads) do bad = bad + thread:get("bad") end
    io.write(string.format("\\nRESULT %d %d\\n", summary.requests, bad))
  end
`;

/** CPU milliseconds of a probe of the blackbox exporter, which is one echo. */
export async function driveBlackbox(
  namespace: NetworkNamespace,
  addresses: readonly string[],
  seconds: number,
): Promise<number> {
  const folder = makeTempFolder();
  const settings = { prober: 'icmp', timeout: '5s', icmp: { preferred_ip_protocol: 'ip4' } };
  writeFileSync(folder.file('blackbox.yml'), JSON.stringify({ modules: { icmp: settings } }));
  writeFileSync(folder.file('drive.lua'), WRK_SCRIPT);
  const listen = `127.0.0.1:${BLACKBOX_PORT}`;
  const exporter = await startChild(
    'ip',
    [
      ...['netns', 'exec', namespace.name, 'prometheus-blackbox-exporter'],
      ...[`--config.file=${folder.file('blackbox.yml')}`, `--web.listen-address=${listen}`],
    ],
    { readyOn: { stream: 'stderr', pattern: /Listening on/ } },
  );
  try {
    const args = ['-t1', `-c${PROBES_AT_ONCE}`, '-s', folder.file('drive.lua'), `http://${listen}`];
    const drive = (length: number): Promise<Finished> =>
      inside(namespace, 'wrk', [`-d${length}s`, ...args, '--', ...addresses]);
    await drive(1);
    const beforeMs = cpuMsOf(exporter.pid);
    const { stdout } = await drive(seconds);
    const cpuMs = cpuMsOf(exporter.pid) - beforeMs;
    const [, probes = 0, bad = 0] = /RESULT (\d+) (\d+)/.exec(stdout)?.map(Number) ?? [];
    if (probes > 0 && bad === 0) return cpuMs / probes;
    throw new Error(`${bad} of ${probes} ICMP probes of the blackbox exporter failed`);
  } finally {
    await exporter.stop();
    folder.remove();
  }
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

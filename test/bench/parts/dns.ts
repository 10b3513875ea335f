import { writeFileSync } from 'node:fs';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import type { Measured, Part, PartContext } from '../part.ts';
import { agentLoads } from '../support/agent-loads.ts';
import { withBlackbox } from '../support/blackbox.ts';
import { runToEnd } from '../support/child-process.ts';
import { atMost, beside, measureInTurns } from '../support/compare.ts';
import { durationsOf } from '../support/durations.ts';
import { NAMES, type NameServer, withNameServer } from '../support/name-server.ts';

const RUNS_PER_SECOND = 15_000;

export const dnsPart: Part = {
  name: 'dns',
  method:
    'DNS checks over UDP for the addresses of names that nsd serves, compared with the dns module of the blackbox exporter, and with dnsperf as the limit: it only sends queries, in C. Measured like http.',
  programs: ['nsd', 'dnsperf', 'wrk', 'prometheus-blackbox-exporter'],
  run: (context) => withNameServer((server) => measure(server, context)),
};

async function measure({ port }: NameServer, context: PartContext): Promise<readonly Measured[]> {
  const { peerSeconds } = durationsOf(context);
  const checkOf = (n: number) => ({
    checkType: 'DNS',
    request: {
      recordType: 'A',
      query: NAMES[n % NAMES.length],
      nameServer: '127.0.0.1',
      port,
      assertions: [{ source: 'RESPONSE_CODE', comparison: 'EQUALS', target: 'NOERROR' }],
    },
  });
  const { saturated, agent } = agentLoads(RUNS_PER_SECOND, checkOf, context);
  // The exporter has a module for each name.
  const asked = { query_type: 'A', transport_protocol: 'udp', preferred_ip_protocol: 'ip4' };
  const modules = { dns: { prober: 'dns', dns: { ...asked, query_name: NAMES[0] } } };
  return withBlackbox(modules, async (blackbox) => {
    const of = await measureInTurns(
      {
        saturated,
        agent,
        blackbox: async () => ({
          ...(await blackbox.drive('dns', [`127.0.0.1:${port}`], peerSeconds)),
        }),
        dnsperf: () => queries(port, peerSeconds),
      },
      context,
    );
    const rate = (kind: Parameters<typeof of>[0]) => of(kind, 'perSecond');
    const cpu = (kind: Parameters<typeof of>[0]) => of(kind, 'cpuMsEach');
    const name = 'blackbox exporter';
    return [
      beside('DNS checks', '/s', rate('saturated'), { name, values: rate('blackbox') }),
      beside('DNS checks', '/s', rate('saturated'), {
        name: 'dnsperf, queries alone',
        values: rate('dnsperf'),
      }),
      beside('CPU a DNS check', 'ms', cpu('agent'), { name, values: cpu('blackbox') }, atMost(0.4)),
    ];
  });
}

async function queries(port: number, seconds: number) {
  const folder = makeTempFolder();
  try {
    writeFileSync(folder.file('names'), NAMES.map((name) => `${name} A\n`).join(''));
    const args = ['-s', '127.0.0.1', '-p', String(port), '-l', String(seconds)];
    const { stdout, cpuMs } = await runToEnd('dnsperf', [...args, '-d', folder.file('names')]);
    const completed = Number(/Queries completed:\s+(\d+)/.exec(stdout)?.[1]);
    if (!(completed > 0)) throw new Error(`dnsperf got no answers: ${stdout}`);
    return { perSecond: completed / seconds, cpuMsEach: cpuMs / completed };
  } finally {
    folder.remove();
  }
}

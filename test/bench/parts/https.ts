import type { Measured, Part, PartContext } from '../part.ts';
import { agentLoads } from '../support/agent-loads.ts';
import { withBlackbox } from '../support/blackbox.ts';
import { runToEnd } from '../support/child-process.ts';
import { atMost, beside, measureInTurns } from '../support/compare.ts';
import { durationsOf } from '../support/durations.ts';
import { type WebServer, withWebServer } from '../support/web-server.ts';

const RUNS_PER_SECOND = 2_000;

export const httpsPart: Part = {
  name: 'https',
  method:
    'The same as http, over TLS 1.3 with a new, verified handshake for each check: a P-256 leaf certificate, an intermediate certificate, and a root that is trusted through a file. openssl s_time makes only handshakes, in C.',
  answer:
    "OpenSSL and its allocations take more than half of the agent's CPU time (`perf`, by its software clock); `openssl s_time` takes 62 % of it for the handshake alone, in C. That handshake and a plain check, which together are the minimum of work, take 0.95 times the CPU time of the exporter; the rest is the code of Node between the two. Only a TLS library other than Node's would probably meet the target.",
  programs: ['nginx', 'wrk', 'prometheus-blackbox-exporter', 'openssl'],
  run: (context) => withWebServer((web) => measure(web, context)),
};

async function measure(web: WebServer, context: PartContext): Promise<readonly Measured[]> {
  const { peerSeconds } = durationsOf(context);
  const env = { NODE_EXTRA_CA_CERTS: web.caFile };
  const { saturated, agent } = agentLoads(RUNS_PER_SECOND, (n) => urlCheck(web, n), context, env);
  const tls = { ca_file: web.caFile };
  const http = { preferred_ip_protocol: 'ip4', tls_config: tls, fail_if_not_ssl: true };
  return withBlackbox({ https: { prober: 'http', http } }, async (blackbox) => {
    const of = await measureInTurns(
      {
        saturated,
        agent,
        blackbox: async () => ({ ...(await blackbox.drive('https', web.secure, peerSeconds)) }),
        openssl: () => handshakes(web, peerSeconds),
      },
      context,
    );
    const cpu = (kind: Parameters<typeof of>[0]) => of(kind, 'cpuMsEach');
    const blackboxCpu = { name: 'blackbox exporter', values: cpu('blackbox') };
    return [
      beside('URL checks, HTTPS', '/s', of('saturated', 'perSecond'), {
        name: 'blackbox exporter',
        values: of('blackbox', 'perSecond'),
      }),
      beside('CPU an HTTPS check', 'ms', cpu('agent'), blackboxCpu, atMost(0.9)),
      beside('CPU an HTTPS check', 'ms', cpu('agent'), {
        name: 'openssl s_time, handshake alone',
        values: cpu('openssl'),
      }),
    ];
  });
}

async function handshakes({ securePorts, caFile }: WebServer, seconds: number) {
  const connect = `127.0.0.1:${securePorts[0]}`;
  const args = ['s_time', '-connect', connect, '-new', '-time', String(seconds), '-CAfile', caFile];
  const { stdout, cpuMs } = await runToEnd('openssl', [...args, '-verify', '3']);
  const connections = Number(/(\d+) connections in [\d.]+ real seconds/.exec(stdout)?.[1]);
  if (!(connections > 0)) throw new Error(`openssl s_time made no connections: ${stdout}`);
  return { perSecond: connections / seconds, cpuMsEach: cpuMs / connections };
}

function urlCheck({ secure }: WebServer, n: number): object {
  const assertions = [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }];
  const url = `${secure[n % secure.length]}/health`;
  return { checkType: 'URL', request: { url, ipFamily: 'IPv4', assertions } };
}

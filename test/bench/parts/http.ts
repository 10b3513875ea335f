import { join } from 'node:path';
import type { Measured, Part, PartContext } from '../part.ts';
import { agentLoads } from '../support/agent-loads.ts';
import { withBlackbox } from '../support/blackbox.ts';
import { runToEnd } from '../support/child-process.ts';
import { atMost, beside, measureInTurns } from '../support/compare.ts';
import { durationsOf } from '../support/durations.ts';
import { type WebServer, withWebServer } from '../support/web-server.ts';

const BARE = join(import.meta.dirname, '../drivers/bare-requests.mjs');
const AT_ONCE = 50;
/** More than one core can run. */
const RUNS_PER_SECOND = 8_000;
/** A usual load: each run finds the processor's caches cold. */
const CALM_RUNS_PER_SECOND = 200;

export const httpPart: Part = {
  name: 'http',
  method:
    'URL checks with one assertion against nginx, with a new connection for each. The agent gets the checks through its protocol from a service that accepts no results, so the measured path begins with the slot and ends with the spool on disk. CPU is that of the whole agent process, once at nine tenths of its maximum rate and once at 200 runs a second. wrk sends requests to the blackbox exporter, once at its maximum rate and once at 200 a second. Bare undici creates a Client for each request; bare sockets write the same bytes and read the response. Both are warmed up like the agent.',
  answer:
    "The probe and Node's sockets below it take 53 % of the agent's CPU time, which is as much as a request by bare undici takes. The JSON, ids and spool of the result take 11 %, the search for secrets 9 %, garbage collection 8 %, assertions and verdict 7 %, scheduling 5 %, and metrics 3 % (`--cpu-prof`). To reach 1.35 times bare undici, everything around the probe would have to take a third of its current time; the target of 0.45 times the exporter is missed by a few per cent. Node 20 takes 1.8 times as much CPU time for the same work. At 200 a second, every check finds the CPU caches cold, in the agent as in the other tools.",
  programs: ['nginx', 'wrk', 'prometheus-blackbox-exporter'],
  run: (context) => withWebServer((web) => measure(web, context)),
};

async function measure(web: WebServer, context: PartContext): Promise<readonly Measured[]> {
  const { warmUpMs, peerSeconds } = durationsOf(context);
  const { saturated, agent, at } = agentLoads(RUNS_PER_SECOND, (n) => urlCheck(web, n), context);
  const bare = async (how: string) => {
    const { stdout } = await runToEnd(process.execPath, [
      BARE,
      how,
      String(warmUpMs),
      String(peerSeconds),
      String(AT_ONCE),
      ...web.plain,
    ]);
    const { requests, seconds, cpuMs } = JSON.parse(stdout);
    return { perSecond: requests / seconds, cpuMsEach: cpuMs / requests };
  };
  const modules = { http: { prober: 'http', http: { preferred_ip_protocol: 'ip4' } } };
  return withBlackbox(modules, async (blackbox) => {
    const of = await measureInTurns(
      {
        saturated,
        agent,
        blackbox: async () => ({ ...(await blackbox.drive('http', web.plain, peerSeconds)) }),
        undici: () => bare('undici'),
        socket: () => bare('socket'),
        calm: at(CALM_RUNS_PER_SECOND),
        calmBlackbox: async () => ({
          ...(await blackbox.ask('http', web.plain, CALM_RUNS_PER_SECOND, peerSeconds)),
        }),
      },
      context,
    );
    const cpu = (kind: Parameters<typeof of>[0]) => of(kind, 'cpuMsEach');
    const blackboxCpu = { name: 'blackbox exporter', values: cpu('blackbox') };
    const undiciCpu = { name: 'bare undici', values: cpu('undici') };
    const socketCpu = { name: 'bare sockets', values: cpu('socket') };
    return [
      beside('URL checks, plain HTTP', '/s', of('saturated', 'perSecond'), {
        name: 'blackbox exporter',
        values: of('blackbox', 'perSecond'),
      }),
      beside('CPU a URL check', 'ms', cpu('agent'), blackboxCpu, atMost(0.45)),
      beside('CPU a URL check', 'ms', cpu('agent'), undiciCpu, atMost(1.35)),
      beside('CPU a URL check', 'ms', cpu('agent'), socketCpu),
      beside(`CPU a URL check, at ${CALM_RUNS_PER_SECOND} a second`, 'ms', cpu('calm'), {
        name: 'blackbox exporter, at as many',
        values: cpu('calmBlackbox'),
      }),
    ];
  });
}

function urlCheck({ plain }: WebServer, n: number): object {
  const assertions = [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }];
  const url = `${plain[n % plain.length]}/health`;
  return { checkType: 'URL', request: { url, ipFamily: 'IPv4', assertions } };
}

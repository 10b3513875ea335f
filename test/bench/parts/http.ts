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
const RUNS_A_SECOND = 8_000;
/** A usual load: each run finds the processor's caches cold. */
const CALM_RUNS_A_SECOND = 200;

export const httpPart: Part = {
  name: 'http',
  method:
    'URL checks with one assertion against nginx, a fresh connection each. The agent gets them by its protocol from a service that takes no results, so the path is that from the slot to the spool on disk; CPU is that of its whole process, at nine tenths of what it can do, and once at 200 runs a second. The blackbox exporter is asked by wrk, as much as it can do, and once at that rate; bare undici makes a Client for each request, bare sockets write the same bytes and read what comes, both warm like the agent.',
  answer:
    "Of the agent's processor time, 53 % are the probe and Node's sockets below it, which is what a request by bare undici takes; 11 % the result's JSON, ids and spool, 9 % the search for secrets, 8 % garbage collection, 7 % assertions and verdict, 5 % scheduling, 3 % metrics (`--cpu-prof`). To reach 1.35 times bare undici, all that is around the probe would have to take a third of what it does now; the exporter's 0.45 is a few per cent away. Node 20 takes 1.8 times as much processor time for the same work. At 200 a second every check finds the processor's caches cold, for the agent as for its peers.",
  programs: ['nginx', 'wrk', 'prometheus-blackbox-exporter'],
  run: (context) => withWebServer((web) => measure(web, context)),
};

async function measure(web: WebServer, context: PartContext): Promise<readonly Measured[]> {
  const { warmUpMs, peerSeconds } = durationsOf(context);
  const { saturated, agent, at } = agentLoads(RUNS_A_SECOND, (n) => urlCheck(web, n), context);
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
        calm: at(CALM_RUNS_A_SECOND),
        calmBlackbox: async () => ({
          ...(await blackbox.ask('http', web.plain, CALM_RUNS_A_SECOND, peerSeconds)),
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
      beside(`CPU a URL check, at ${CALM_RUNS_A_SECOND} a second`, 'ms', cpu('calm'), {
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

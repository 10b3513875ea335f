import type { Part } from '../part.ts';
import { withLoadedAgent } from '../rig/agent.ts';
import { withBlackbox } from '../rig/blackbox.ts';
import { atMost, beside, takeInTurns } from '../rig/compare.ts';
import { durationsOf } from '../rig/durations.ts';
import { manyChecks } from '../rig/many.ts';
import { withWebServer } from '../rig/web-server.ts';

const RUNS_A_SECOND = 12_000;
const STEADY_RUNS_A_SECOND = 1_000;

export const tcpPart: Part = {
  name: 'tcp',
  method:
    'TCP checks that connect and close, beside the tcp module of the blackbox exporter; measured like http.',
  programs: ['nginx', 'wrk', 'prometheus-blackbox-exporter'],
  run: (context) =>
    withWebServer(async ({ plainPorts }) => {
      const { warmUpMs, measureMs, peerSeconds } = durationsOf(context);
      const agent = async (runsASecond: number) => {
        const checks = manyChecks(runsASecond, (n) => ({
          checkType: 'TCP',
          request: { hostname: '127.0.0.1', port: plainPorts[n % plainPorts.length] },
        }));
        const { perSecond, cpuMsEach } = await withLoadedAgent({ checks }, (loaded) =>
          loaded.measure(warmUpMs, measureMs, context.signal),
        );
        return { perSecond, cpuMsEach };
      };
      const modules = { tcp: { prober: 'tcp', tcp: { preferred_ip_protocol: 'ip4' } } };
      const targets = plainPorts.map((port) => `127.0.0.1:${port}`);
      return withBlackbox(modules, async (blackbox) => {
        const of = await takeInTurns(
          {
            agent: () => agent(STEADY_RUNS_A_SECOND),
            saturated: () => agent(RUNS_A_SECOND),
            blackbox: async () => ({ ...(await blackbox.drive('tcp', targets, peerSeconds)) }),
          },
          context,
        );
        const name = 'blackbox exporter';
        return [
          beside('TCP checks', '/s', of('saturated', 'perSecond'), {
            name,
            values: of('blackbox', 'perSecond'),
          }),
          beside(
            'CPU a TCP check',
            'ms',
            of('agent', 'cpuMsEach'),
            { name, values: of('blackbox', 'cpuMsEach') },
            atMost(0.4),
          ),
        ];
      });
    }),
};

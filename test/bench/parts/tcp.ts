import type { Part } from '../part.ts';
import { agentLoads } from '../support/agent-loads.ts';
import { withBlackbox } from '../support/blackbox.ts';
import { atMost, beside, measureInTurns } from '../support/compare.ts';
import { durationsOf } from '../support/durations.ts';
import { withWebServer } from '../support/web-server.ts';

const RUNS_PER_SECOND = 20_000;

export const tcpPart: Part = {
  name: 'tcp',
  method:
    'TCP checks that connect and close, compared with the tcp module of the blackbox exporter; measured like http.',
  programs: ['nginx', 'wrk', 'prometheus-blackbox-exporter'],
  run: (context) =>
    withWebServer(async ({ addresses }) => {
      const { peerSeconds } = durationsOf(context);
      const checkOf = (n: number) => ({
        checkType: 'TCP',
        request: addresses[n % addresses.length],
      });
      const { saturated, agent } = agentLoads(RUNS_PER_SECOND, checkOf, context);
      const modules = { tcp: { prober: 'tcp', tcp: { preferred_ip_protocol: 'ip4' } } };
      const targets = addresses.map(({ hostname, port }) => `${hostname}:${port}`);
      return withBlackbox(modules, async (blackbox) => {
        const of = await measureInTurns(
          {
            saturated,
            agent,
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

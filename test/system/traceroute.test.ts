import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Traced } from '../../src/agent/evidence/traceroute/tracer.ts';
import type { Traceroute, TracerouteHop } from '../../src/model/result/traceroute.ts';
import { NOBODY, RoutedNetwork } from '../support/network/routed-network.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { lacking } from '../support/process/system-needs.ts';

const ENGINES = [
  { method: 'raw sockets', user: 0, capabilities: /[1-9a-f]/ },
  { method: 'traceroute', user: NOBODY, capabilities: /^0+$/ },
] as const;

/** By day only our own packets try what does not depend on the program's output. */
const BOTH_NIGHTLY = IS_NIGHTLY ? ENGINES : ENGINES.slice(0, 1);

/** The target and the routers before it, in the order of the path, in each family. */
const WAYS = [
  { target: '10.80.4.2', routers: ['10.80.1.2', '10.80.2.2', '10.80.3.2'], absent: '10.80.4.9' },
  { target: 'fd80:4::2', routers: ['fd80:1::2', 'fd80:2::2', 'fd80:3::2'], absent: 'fd80:4::9' },
] as const;
const TARGETS = WAYS.map(({ target }) => target);
const PASSING = 'meta l4proto { udp, icmp, icmpv6 }';

const lacks = lacking({ commands: ['ip', 'nft', 'sysctl', 'traceroute'], files: [] });

describe.skipIf(lacks !== null)(
  `Traceroutes on real networks (lacking: ${lacks ?? 'nothing'})`,
  () => {
    let network: RoutedNetwork;

    beforeAll(() => {
      network = new RoutedNetwork();
    });
    afterEach(() => {
      network.clearRules();
    });
    afterAll(() => {
      network.remove();
    });

    describe.for(ENGINES)('with $method', ({ method, user, capabilities }) => {
      it('a trace finds every router and the target, with their names', async () => {
        const names = {
          '2.1.80.10.in-addr.arpa': 'gateway.example',
          '2.4.80.10.in-addr.arpa': 'bad name\u001b[31m.example',
        };
        const report = await network.trace({ targets: TARGETS, user, names });
        expect(report).toMatchObject({ method, lack: null });
        expect(report.effectiveCapabilities).toMatch(capabilities);
        for (const [index, { target, routers }] of WAYS.entries()) {
          const traceroute = tracedOf(report.traced, index);
          expect(traceroute).toMatchObject({ hostname: target, resolvedIp: target });
          expect(traceroute).toMatchObject({ destinationReached: true, truncationReason: null });
          expect(addresses(traceroute)).toEqual([...routers, target]);
          for (const [at, hop] of traceroute.hops.entries()) {
            expect(hop).toMatchObject({ hop: at + 1, sent: 3, received: 3, lossPercent: 0 });
            expectTimes(hop);
          }
        }
        const named = tracedOf(report.traced, 0).hops.map(({ host }) => host);
        expect(named).toEqual(['gateway.example', null, null, null]);
        expect(report.texts[0]).toContain('gateway.example (10.80.1.2)');
      });

      it('a trace names the last hop before silence without using all its time', async () => {
        network.rule(2, 'forward', `${PASSING} drop`);
        const report = await network.trace({ targets: TARGETS, user });
        for (const [index, { routers }] of WAYS.entries()) {
          const traceroute = tracedOf(report.traced, index);
          expect(addresses(traceroute)).toEqual([routers[0], routers[1], null]);
          expect(traceroute).toMatchObject({
            destinationReached: false,
            truncationReason: 'no answer after hop 2',
          });
          expect(traceroute.hops[2]).toEqual(silentHop(3));
        }
      });

      it('a trace names the router that refuses to forward, and its reason', async () => {
        const refusals = [
          {
            rule: 'reject with icmpx admin-prohibited',
            reason: 'administratively prohibited (!X)',
          },
          { rule: 'reject with icmpx no-route', reason: 'network (!N)' },
          { rule: 'reject with icmpx host-unreachable', reason: 'host (!H)' },
          { rule: 'reject with icmpx port-unreachable', reason: 'port' },
        ];
        for (const { rule, reason } of refusals) {
          network.clearRules();
          network.rule(2, 'forward', `${PASSING} ${rule}`);
          const report = await network.trace({ targets: TARGETS, user });
          for (const [index, { routers }] of WAYS.entries()) {
            const [first, second] = routers;
            const traceroute = tracedOf(report.traced, index);
            expect(addresses(traceroute)).toEqual([first, second, second]);
            expect(traceroute.truncationReason).toBe(`unreachable: ${reason} by ${second}`);
            expect(traceroute.destinationReached).toBe(false);
          }
        }
      });

      it('a trace returns the hops it has when its time is over', async () => {
        network.rule(2, 'forward', `${PASSING} drop`);
        const report = await network.trace({ targets: TARGETS, user, limitMs: 3000 });
        for (const [index, { routers }] of WAYS.entries()) {
          const traceroute = tracedOf(report.traced, index);
          expect(addresses(traceroute).slice(0, 2)).toEqual([routers[0], routers[1]]);
          expect(traceroute.truncationReason).toBe('time limit');
        }
        expect(report.processesAfter).toBe(0);
      });
    });

    describe.for(BOTH_NIGHTLY)('with $method', ({ user }) => {
      it.for(WAYS)('a trace waits until the last router gives up on $absent', async (way) => {
        const { routers, absent } = way;
        // One at a time: the router's queue holds fifty packets per moment.
        const report = await network.trace({ targets: [absent], user });
        const traceroute = tracedOf(report.traced, 0);
        expect(addresses(traceroute)).toEqual([...routers, routers[2]]);
        expect(traceroute.truncationReason).toBe(`unreachable: host (!H) by ${routers[2]}`);
      });

      it('a trace continues past a router that is silent or answers rarely', async () => {
        network.rule(1, 'output', 'icmp type time-exceeded numgen inc mod 3 == 0 drop');
        network.rule(1, 'output', 'icmpv6 type time-exceeded numgen inc mod 3 == 0 drop');
        network.rule(2, 'output', 'icmp type time-exceeded drop');
        network.rule(2, 'output', 'icmpv6 type time-exceeded drop');
        const report = await network.trace({ targets: TARGETS, user });
        for (const [index, { target, routers }] of WAYS.entries()) {
          const traceroute = tracedOf(report.traced, index);
          expect(traceroute.destinationReached).toBe(true);
          expect(addresses(traceroute)).toEqual([routers[0], null, routers[2], target]);
          expect(traceroute.hops[0]).toMatchObject({ sent: 3, received: 2, lossPercent: 33.33 });
          expect(traceroute.hops[1]).toEqual(silentHop(2));
          expect(traceroute.hops[2]).toMatchObject({ sent: 3, received: 3, lossPercent: 0 });
        }
      });

      it('a trace finds one hop to its own host, and none if sending is forbidden', async () => {
        network.agent.run('ip', 'route', 'replace', 'prohibit', '10.99.0.0/24');
        const targets = [
          '127.0.0.9',
          '::1',
          '10.80.1.1',
          '10.99.0.1',
          'fe80::1%onward',
          'localhost',
        ];
        const report = await network.trace({ targets, user });
        for (const [index, address] of targets.slice(0, 3).entries()) {
          const traceroute = tracedOf(report.traced, index);
          expect(addresses(traceroute)).toEqual([address]);
          expect(traceroute).toMatchObject({ destinationReached: true, truncationReason: null });
        }
        const [, , , prohibited, linkLocal, name] = report.traced;
        expect(prohibited).toMatchObject({ ok: false, note: expect.stringContaining('denied') });
        expect(linkLocal).toMatchObject({
          ok: false,
          note: expect.stringContaining('on the link'),
        });
        expect(name).toMatchObject({ ok: false, note: 'localhost is not an IP address' });
      });

      it('simultaneous traces of one target do not mix', async () => {
        const targets = [...TARGETS, ...TARGETS, ...TARGETS, '10.80.3.2'];
        const report = await network.trace({ targets, user });
        for (const [index, target] of targets.slice(0, 6).entries()) {
          const traceroute = tracedOf(report.traced, index);
          const way = WAYS.find((one) => one.target === target);
          expect(addresses(traceroute)).toEqual([...(way?.routers ?? []), target]);
          expect(traceroute.hops.map(({ received }) => received)).toEqual([3, 3, 3, 3]);
        }
        expect(addresses(tracedOf(report.traced, 6))).toEqual(WAYS[0].routers);
      });
    });

    it('an aborted trace leaves no process', async () => {
      network.rule(2, 'forward', `${PASSING} drop`);
      const options = { targets: TARGETS, user: NOBODY, stopAtFirstProcess: true };
      const report = await network.trace(options);
      expect(report.processesBefore).toBeGreaterThan(0);
      expect(report.processesAfter).toBe(0);
      for (const one of report.traced) {
        if (one.ok) expect(one.traceroute.truncationReason).toBe('stopped');
        else expect(one.note).toBe('it was cancelled');
      }
    });

    it('a trace without raw sockets and traceroute says what is missing and how to grant it', async () => {
      const report = await network.trace({
        targets: TARGETS,
        user: NOBODY,
        programFolders: ['/nowhere'],
      });
      expect(report.method).toBeNull();
      expect(report.lack).toMatch(/not permitted.*not installed.*apt-get install traceroute/);
      expect(report.lack).toMatch(/--cap-add=NET_RAW.*setcap cap_net_raw\+ep/);
      expect(report.traced).toEqual(TARGETS.map(() => ({ ok: false, note: report.lack })));
    });
  },
);

function silentHop(hop: number): TracerouteHop {
  const none = { lastMs: null, avgMs: null, bestMs: null, worstMs: null, stdDevMs: null };
  return { hop, address: null, host: null, sent: 3, received: 0, lossPercent: 100, ...none };
}

function tracedOf(traced: readonly Traced[], index: number): Traceroute {
  const one = traced[index];
  if (one?.ok !== true) throw new Error(`no trace: ${one?.note}`);
  return one.traceroute;
}

function addresses({ hops }: Traceroute): readonly (string | null)[] {
  return hops.map(({ address }) => address);
}

function expectTimes({ lastMs, avgMs, bestMs, worstMs, stdDevMs }: TracerouteHop): void {
  const times = [lastMs, avgMs, bestMs, worstMs, stdDevMs].map((time) => time ?? Number.NaN);
  for (const time of times) expect(time).toBe(Math.round(time * 1000) / 1000);
  const [last = 0, avg = 0, best = 0, worst = 0, stdDev = 0] = times;
  expect(best).toBeGreaterThan(0);
  expect(worst).toBeLessThan(3000);
  expect(last).toBeGreaterThanOrEqual(best);
  expect(last).toBeLessThanOrEqual(worst);
  expect(avg).toBeGreaterThanOrEqual(best);
  expect(avg).toBeLessThanOrEqual(worst);
  expect(stdDev).toBeLessThanOrEqual(worst - best + 0.001);
}

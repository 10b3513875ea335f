import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NetworkNamespace } from '../support/network/network-namespace.ts';
import {
  type DriverReport,
  drive,
  median,
  pingCommand,
  type Rule,
  TunResponder,
} from '../support/network/ping-fixture.ts';
import { lacking } from '../support/process/system-needs.ts';

/** A user without capabilities, whose group an open ping_group_range includes. */
const NOBODY = 10_001;
const HOLD_MS = 20;
const ECHOES = 12;
/**
 * The benchmark (part icmp) measures the precision of the times. A tool that measured its own
 * waiting would be off by more than this.
 */
const MAX_OFF_MS = HOLD_MS / 2;
const SOCKET_NAME = 'an unprivileged ICMP socket';
const RAW_NAME = 'a raw socket (net-ping)';

const FAMILIES = [
  { ipFamily: 'IPv4', network: '10.77.0.' },
  { ipFamily: 'IPv6', network: 'fd77::' },
] as const;

const lacks = lacking({ commands: ['ip', 'ping', 'sysctl'], files: ['/dev/net/tun'] });

describe.skipIf(lacks !== null)(`ICMP on real networks (lacking: ${lacks ?? 'nothing'})`, () => {
  let namespace: NetworkNamespace;
  let responder: TunResponder | null = null;

  beforeAll(() => {
    namespace = new NetworkNamespace();
  });
  afterEach(async () => {
    await responder?.stop();
    responder = null;
  });
  afterAll(() => {
    namespace.remove();
  });

  async function respond(targets: Record<string, Rule>): Promise<TunResponder> {
    responder = await TunResponder.start(namespace, targets);
    return responder;
  }

  it.for(FAMILIES)(
    'ICMP over $ipFamily measures a target’s round trip like ping, without privileges',
    async ({ ipFamily, network }, { annotate }) => {
      const target = `${network}2`;
      namespace.allowPing('all');
      const truth = await respond({ [target]: { holdMs: HOLD_MS } });
      const requests = [{ hostname: target, pingCount: ECHOES, ipFamily }];
      const [report, pinged] = await Promise.all([
        drive(namespace, { requests, user: NOBODY }),
        pingCommand(namespace, target, ECHOES),
      ]);
      expect(report).toMatchObject({ uid: NOBODY, effectiveCapabilities: '0000000000000000' });
      expect(report.runs[0]?.log.join()).toContain(SOCKET_NAME);
      const off = median(offTruth(rttsOf(report), await truth.heldMs(target, 'agent', ECHOES)));
      const pingOff = median(offTruth(pinged, await truth.heldMs(target, 'others', ECHOES)));
      const said = `median over the truth: agent ${ms(off)}, ping ${ms(pingOff)}`;
      await annotate(said);
      expect(off, said).toBeGreaterThan(0);
      expect(Math.abs(off - pingOff), said).toBeLessThan(MAX_OFF_MS);
    },
  );

  it('a stall of the event loop is not measured as the target’s time', async ({ annotate }) => {
    const target = '10.77.0.2';
    namespace.allowPing('all');
    const truth = await respond({ [target]: { holdMs: HOLD_MS } });
    const requests = [{ hostname: target, pingCount: 8, ipFamily: 'IPv4' }] as const;
    const report = await drive(namespace, { requests, user: NOBODY, stallMs: 100 });
    const off = median(offTruth(rttsOf(report), await truth.heldMs(target, 'agent', 8)));
    const said = `median over the truth: ${ms(off)}`;
    await annotate(said);
    expect(off, said).toBeLessThan(MAX_OFF_MS);
  });

  it.for(FAMILIES)(
    'a raw socket over $ipFamily measures a target’s round trip without kernel timestamps',
    async ({ ipFamily, network }, { annotate }) => {
      const target = `${network}2`;
      namespace.allowPing('none');
      const truth = await respond({ [target]: { holdMs: HOLD_MS } });
      const requests = [{ hostname: target, pingCount: 8, ipFamily }];
      const report = await drive(namespace, { requests });
      expect(report.runs[0]?.log.join()).toContain(RAW_NAME);
      const off = median(offTruth(rttsOf(report), await truth.heldMs(target, 'agent', 8)));
      const said = `median over the truth: ${ms(off)}`;
      await annotate(said);
      expect(off, said).toBeGreaterThan(0);
      expect(off, said).toBeLessThan(MAX_OFF_MS);
    },
  );

  const SOCKETS = [
    { socket: SOCKET_NAME, groups: 'all', user: NOBODY, ipv6Ttl: 61 },
    { socket: RAW_NAME, groups: 'none', user: 0, ipv6Ttl: null },
  ] as const;
  const EVERY_WAY = SOCKETS.flatMap((socket) =>
    FAMILIES.map((family) => ({ ...socket, ...family })),
  );

  it.for(EVERY_WAY)(
    'ICMP over $ipFamily through $socket distinguishes all behaviours of targets',
    async ({ ipFamily, network, socket, groups, user, ipv6Ttl }) => {
      namespace.allowPing(groups);
      await respond({
        [`${network}2`]: { holdMs: 5 },
        [`${network}3`]: { does: 'nothing' },
        [`${network}4`]: { does: 'unreachable' },
        [`${network}5`]: { does: 'forge' },
        [`${network}6`]: { does: 'twice' },
        [`${network}7`]: { holdMs: 2300 },
      });
      const requests = [2, 3, 4, 5, 6, 7].map((host) => ({
        hostname: `${network}${host}`,
        pingCount: 3,
        ipFamily,
      }));
      const { runs } = await drive(namespace, { requests, user });
      const [answers, silent, unreachable, forged, twice, late] = runs.map(
        ({ outcome }) => outcome,
      );
      expect(runs[0]?.log.join()).toContain(socket);
      expect(answers).toMatchObject({
        failure: null,
        response: { packetsReceived: 3, packetLoss: 0 },
      });
      const ttl = ipFamily === 'IPv4' ? 61 : ipv6Ttl;
      expect(answers?.response?.pingResults.map((one) => one.ttl)).toEqual([ttl, ttl, ttl]);
      expect(twice).toMatchObject({
        failure: null,
        response: { packetsSent: 3, packetsReceived: 3 },
      });
      expect(unreachable?.failure?.code).toBe('ICMP_UNREACHABLE');
      expect(unreachable?.failure?.message).toContain(`says ${network}4`);
      for (const unanswered of [silent, forged, late]) {
        expect(unanswered).toMatchObject({
          failure: { code: 'ICMP_NO_REPLY' },
          response: { packetsSent: 3, packetsReceived: 0, packetLoss: 100 },
          responseTimeMs: 0,
        });
      }
    },
  );

  it.for(FAMILIES)(
    'ICMP over $ipFamily assigns an error to the target that caused it',
    async ({ ipFamily, network }) => {
      namespace.allowPing('all');
      await respond({ [`${network}2`]: {}, [`${network}4`]: { does: 'unreachable' } });
      const hostnames = [`${network}4`, `${network}2`];
      const requests = hostnames.map((hostname) => ({ hostname, pingCount: 3, ipFamily }));
      // Errors of one send wait on the socket for the next: the loop reads nothing in between.
      const { runs } = await drive(namespace, { requests, user: NOBODY, stallMs: 600 });
      const [unreachable, answers] = runs.map(({ outcome }) => outcome);
      expect(unreachable?.failure?.code).toBe('ICMP_UNREACHABLE');
      expect(unreachable?.response?.packetsSent).toBe(3);
      expect(answers).toMatchObject({
        failure: null,
        response: { packetsSent: 3, packetsReceived: 3 },
      });
    },
  );

  it.for(SOCKETS)(
    'ICMP through $socket reports why an echo cannot leave this host',
    async ({ groups, user }) => {
      namespace.allowPing(groups);
      namespace.run('ip', 'route', 'replace', 'prohibit', '10.88.0.0/24');
      namespace.run('ip', 'route', 'replace', 'unreachable', '10.89.0.0/24');
      const hostnames = ['10.88.0.1', '10.89.0.1', '10.99.0.1', '127.0.0.1'];
      const requests = hostnames.map((hostname) => ({
        hostname,
        pingCount: 2,
        ipFamily: 'IPv4' as const,
      }));
      const { runs } = await drive(namespace, { requests, user });
      const outcomes = runs.map(({ outcome }) => outcome);
      for (const refused of outcomes.slice(0, 3)) {
        expect(refused).toMatchObject({ response: null, failure: { code: 'ICMP_UNREACHABLE' } });
      }
      expect(outcomes[3]).toMatchObject({ failure: null, response: { packetsReceived: 2 } });
    },
  );

  it('ICMP without privileges explains how to grant one, and pings as soon as it is granted', async () => {
    namespace.allowPing('none');
    const requests = [{ hostname: '127.0.0.1', pingCount: 1, ipFamily: 'IPv4' }] as const;
    const options = { requests, user: NOBODY, rounds: 2, pause: true };
    const report = await drive(namespace, options, () => namespace.allowPing('all'));
    expect(report).toMatchObject({ uid: NOBODY, effectiveCapabilities: '0000000000000000' });
    const [before, after] = report.runs.map(({ outcome }) => outcome);
    expect(before).toMatchObject({ response: null, failure: { code: 'ICMP_NOT_PERMITTED' } });
    expect(before?.failure?.message).toMatch(/ping_group_range="0 2147483647".*CAP_NET_RAW/);
    expect(after).toMatchObject({ failure: null, response: { packetsReceived: 1 } });
  });

  it('ICMP falls back to IPv4 and reports it on a machine without IPv6', async () => {
    const bare = new NetworkNamespace();
    try {
      bare.allowPing('all');
      const names = { 'both.test': ['127.0.0.1', '2001:db8::1'] };
      const requests = ['both.test', '::1', '2001:db8::1'].map((hostname) => ({
        hostname,
        pingCount: 1,
        ipFamily: 'IPv6' as const,
      }));
      const { runs } = await drive(bare, { requests, user: NOBODY, names });
      const [both, loopback, elsewhere] = runs;
      expect(both?.outcome).toMatchObject({
        failure: null,
        response: { resolvedIp: '127.0.0.1', ipFamily: 'IPv4' },
      });
      expect(both?.log.join('\n')).toContain('no IPv6: falling back to IPv4 for both.test');
      expect(loopback?.outcome).toMatchObject({ failure: null, response: { ipFamily: 'IPv6' } });
      expect(elsewhere?.outcome).toMatchObject({
        response: null,
        failure: { code: 'ICMP_UNREACHABLE' },
      });
    } finally {
      bare.remove();
    }
  });

  it('one ICMP socket carries twenty thousand runs at once and loses none', async ({
    annotate,
  }) => {
    namespace.allowPing('all');
    const requests = Array.from({ length: 1000 }, (_, index) => ({
      hostname: `127.${index >> 8}.${index & 255}.1`,
      pingCount: 1,
      ipFamily: 'IPv4' as const,
    }));
    const report = await drive(namespace, { requests, user: NOBODY, copies: 20 });
    await annotate(`${((report.cpuMs * 1000) / report.runs.length).toFixed(0)} µs of CPU a run`);
    const lost = report.runs.filter(({ outcome }) => outcome.response?.packetsReceived !== 1);
    expect(report.runs).toHaveLength(20_000);
    expect(lost.map(({ outcome }) => outcome.failure?.message)).toEqual([]);
  });
});

/** Every reply's round trip; NaN if there was none, so that any comparison fails. */
function rttsOf({ runs }: DriverReport): number[] {
  return runs
    .flatMap(({ outcome }) => outcome.response?.pingResults ?? [])
    .map(({ rtt }) => rtt ?? Number.NaN);
}

function offTruth(measured: readonly number[], held: readonly number[]): number[] {
  return measured.map((rtt, index) => rtt - (held[index] ?? Number.NaN));
}

function ms(durationMs: number): string {
  return `${durationMs.toFixed(3)} ms`;
}

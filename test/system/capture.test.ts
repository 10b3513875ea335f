import { describe, expect, it } from 'vitest';
import type { CaptureFilter } from '../../src/agent/evidence/capture/capture.ts';
import { endOrphans } from '../../src/agent/evidence/orphans.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-capture.ts';
import {
  CaptureDriver,
  shownPackets,
  TwoMachines,
  tcpdumpText,
} from '../support/network/capture-fixture.ts';
import { evidenceProcessesOf } from '../support/process/evidence-processes.ts';
import { lacking } from '../support/process/system-needs.ts';

const needed = ['ip', 'nft', 'ping', 'setpriv', 'sysctl', 'tcpdump', 'unshare'];
const lacks = lacking({ commands: needed, files: [] });
const FIVE_MB = 5 * 1024 * 1024;
const { there, thereToo, there6 } = TwoMachines;

describe.skipIf(lacks !== null)(`Packet captures (lacking: ${lacks ?? 'nothing'})`, () => {
  const open = (machines: TwoMachines, ...prefix: readonly string[]): Promise<CaptureDriver> =>
    CaptureDriver.open(machines.here, ...prefix);

  const tcp = (address: string, port: number): CaptureFilter => ({
    addresses: [address],
    port,
    transport: 'tcp',
  });
  const bounds = { limitMs: 10_000, maxBytes: FIVE_MB };

  it('the capture of a silent port has its SYNs and no packet of others', async () => {
    const machines = new TwoMachines();
    machines.firewall('tcp dport 81 drop');
    await machines.serve(80, "socket => socket.end('hello')");
    const agent = await open(machines);
    expect(agent).toMatchObject({ lack: null });

    expect(await agent.do('start', { filter: tcp(there, 81), ...bounds })).toMatchObject({
      ok: true,
    });
    // The same port of another host, another port of the same host, and another protocol.
    for (const host of [there, thereToo, there6]) await agent.do('read', { host, port: 80 });
    await agent.do('connect', { host: thereToo, port: 81, limitMs: 100 });
    machines.here.run('ping', '-c1', there);
    const ended = await agent.do('connect', { host: there, port: 81, limitMs: 1500 });
    expect(ended.code).toBe('CONNECT_TIMEOUT');

    const captured = await agent.stop();
    const packets = shownPackets(captured);
    expect(captured).toMatchObject({ truncated: false, dropped: 0, packets: packets.length });
    expect(packets.length).toBeGreaterThanOrEqual(2);
    for (const packet of packets) {
      expect(packet).toMatch(/^IP 10\.77\.0\.1\.\d+ > 10\.77\.0\.2\.81: Flags \[S\], /);
    }
    expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
  });

  it.each([
    ['a refused port', there, 83, 'CONNECT_REFUSED', /^IP 10\.77\.0\.2\.83 > .*Flags \[R\.\]/],
    ['a refused port, by IPv6', there6, 83, 'CONNECT_REFUSED', /^IP6 fd77::2\.83 > .*\[R\.\]/],
    [
      'a port that a firewall refuses',
      there,
      84,
      'CONNECT_REFUSED',
      /^IP 10\.77\.0\.2 > 10\.77\.0\.1: ICMP 10\.77\.0\.2 tcp port 84 unreachable/,
    ],
    [
      'a port that a firewall refuses, by IPv6',
      there6,
      84,
      'CONNECT_REFUSED',
      /^IP6 fd77::2 > fd77::1: ICMP6, .*unreachable port.* tcp port 84/,
    ],
  ] as const)('of %s holds the question and the answer', async (_what, host, port, code, shown) => {
    const machines = new TwoMachines();
    machines.firewall('tcp dport 84 reject with icmpx type port-unreachable');
    const agent = await open(machines);
    await agent.do('start', { filter: tcp(host, port), ...bounds });
    for (const [other, otherPort] of [
      [there, 83],
      [there6, 83],
      [there, 84],
      [there6, 84],
    ] as const) {
      if (other === host && otherPort === port) continue;
      await agent.do('connect', { host: other, port: otherPort, limitMs: 300 });
    }
    expect(await agent.do('connect', { host, port, limitMs: 3000 })).toEqual({ code });

    const packets = shownPackets(await agent.stop());
    // An answer that arrives while the kernel is still processing the query is requested again.
    expect(packets.length).toBeGreaterThanOrEqual(2);
    expect(packets.length % 2).toBe(0);
    for (const [index, packet] of packets.entries()) {
      expect(packet).toMatch(index % 2 === 0 ? /Flags \[S\]/ : shown);
    }
  });

  it('the capture of a target that resets has the whole exchange', async () => {
    const machines = new TwoMachines();
    await machines.serve(
      85,
      "socket => socket.once('data', () => socket.resetAndDestroy()).write('hello')",
    );
    const agent = await open(machines);
    await agent.do('start', { filter: tcp(there, 85), ...bounds });
    const ended = await agent.do('read', { host: there, port: 85, say: 'what is this?' });
    expect(ended).toEqual({ bytes: 5, code: 'ECONNRESET' });
    const captured = await agent.stop();
    const text = tcpdumpText(Buffer.from(captured.base64, 'base64'), '-A');
    expect(text).toMatch(/10\.77\.0\.1\.\d+ > 10\.77\.0\.2\.85: Flags \[S\]/);
    expect(text).toMatch(/10\.77\.0\.2\.85 > 10\.77\.0\.1\.\d+: Flags \[R\.?\]/);
    expect(text).toContain('what is this?');
  });

  it('the capture of name servers that are away has the queries and the ICMP errors', async () => {
    const machines = new TwoMachines();
    machines.firewall(`ip daddr ${thereToo} udp dport 53 drop`);
    const agent = await open(machines);
    const filter = { addresses: [there, thereToo], port: 53, transport: 'dns' } as const;
    await agent.do('start', { filter, ...bounds });
    const question = { hostname: 'shop.example.com', limitMs: 300 };
    expect(await agent.do('lookup', { ...question, server: there })).toEqual({
      code: 'ECONNREFUSED',
    });
    const silent = await agent.do('lookup', { ...question, server: thereToo });
    expect(silent).toEqual({ code: 'ETIMEOUT' });
    await agent.do('connect', { host: there, port: 53, limitMs: 3000 });
    await agent.do('connect', { host: there, port: 80, limitMs: 3000 });

    const packets = shownPackets(await agent.stop());
    const asked = packets.filter((packet) => packet.includes('A? shop.example.com'));
    expect(asked.some((packet) => packet.includes('> 10.77.0.2.53:'))).toBe(true);
    expect(asked.some((packet) => packet.includes('> 10.77.0.3.53:'))).toBe(true);
    const refusals = packets.filter((packet) => packet.includes('udp port 53 unreachable'));
    expect(refusals.length).toBeGreaterThan(0);
    // Also over TCP; nothing else.
    const tries = packets.filter((packet) => packet.includes('2.53: Flags [S]'));
    const resets = packets.filter((packet) => packet.includes('2.53 > 10.77.0.1'));
    expect(tries).toHaveLength(1);
    expect(resets).toHaveLength(1);
    expect(packets).toHaveLength(asked.length + refusals.length + 2);
  });

  it('the capture of pings has those of that host', async () => {
    const machines = new TwoMachines();
    const agent = await open(machines);
    for (const [host, text] of [
      [there, 'IP 10.77.0.1 > 10.77.0.2: ICMP echo request'],
      [there6, 'IP6 fd77::1 > fd77::2: ICMP6, echo request'],
    ] as const) {
      const filter = { addresses: [host], port: null, transport: 'icmp' } as const;
      await agent.do('start', { filter, ...bounds });
      for (const target of [thereToo, there6, there]) machines.here.run('ping', '-c1', target);
      const packets = shownPackets(await agent.stop());
      expect(packets.filter((packet) => packet.startsWith(text))).toHaveLength(1);
      expect(packets.filter((packet) => packet.includes('echo reply'))).toHaveLength(1);
      expect(packets.join()).not.toContain(thereToo);
    }
  });

  it('a capture ends at its limit of bytes with whole packets', async () => {
    const machines = new TwoMachines();
    await machines.serve(86, 'socket => socket.end(Buffer.alloc(20_000_000))');
    const agent = await open(machines);
    const maxBytes = FIVE_MB;
    await agent.do('start', { filter: tcp(there, 86), limitMs: 60_000, maxBytes });
    expect(await agent.do('read', { host: there, port: 86 })).toMatchObject({ bytes: 20_000_000 });
    await eventually(() => evidenceProcessesOf(agent.pid, 'capture').length === 0);

    const captured = await agent.stop();
    expect(captured.truncated).toBe(true);
    const bytes = Buffer.from(captured.base64, 'base64');
    expect(bytes.length).toBeLessThanOrEqual(FIVE_MB);
    expect(bytes.length).toBeGreaterThan(FIVE_MB - 70_000);
    expect(shownPackets(captured)).toHaveLength(captured.packets);
  });

  it('a capture ends at its time limit with the packets it has', async () => {
    const machines = new TwoMachines();
    const agent = await open(machines);
    await agent.do('start', { filter: tcp(there, 83), limitMs: 700, maxBytes: FIVE_MB });
    await agent.do('connect', { host: there, port: 83, limitMs: 3000 });
    expect(evidenceProcessesOf(agent.pid, 'capture')).toHaveLength(1);
    await eventually(() => evidenceProcessesOf(agent.pid, 'capture').length === 0);
    const packets = shownPackets(await agent.stop());
    expect(packets).toHaveLength(2);
  });

  it('an aborted capture leaves no process, also if it had not begun', async () => {
    const machines = new TwoMachines();
    const agent = await open(machines);
    await agent.do('start', { filter: tcp(there, 83), ...bounds });
    await agent.do('abort', {});
    await eventually(() => evidenceProcessesOf(agent.pid, 'capture').length === 0);
    const wrong: CaptureFilter = { addresses: ['1.2.3.4 or tcp'], port: 83, transport: 'tcp' };
    expect(await agent.do('start', { filter: wrong, ...bounds })).toEqual({
      ok: false,
      note: '"1.2.3.4 or tcp" is not an IP address',
    });
    expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
  });

  it.each([
    [
      'without any right',
      ['setpriv', '--bounding-set=-all', '--inh-caps=-all'],
      '--cap-add=NET_RAW --cap-add=SETUID',
    ],
    [
      'without the right to open raw sockets',
      ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-all'],
      '`setcap cap_net_raw+ep /',
    ],
    [
      'as a root that may not change its user',
      ['setpriv', '--bounding-set=-all,+net_raw', '--inh-caps=-all'],
      '--cap-add=SETUID',
    ],
  ])('%s it cannot be used, and says what is missing', async (_how, prefix, remedy) => {
    const machines = new TwoMachines();
    const agent = await open(machines, ...prefix);
    expect(agent.lack).toContain(remedy);
    expect(agent.lack).toMatch(/tcpdump may not capture packets here \(tcpdump: .+\): `.+/);
    expect(agent.lack).not.toContain('\n');
    const started = await agent.do('start', { filter: tcp(there, 83), ...bounds });
    expect(started).toEqual({ ok: false, note: agent.lack });
    expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
  });

  it.each([
    [
      'to open raw sockets',
      [
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        '--inh-caps=+net_raw,+dac_read_search',
        // The second capability is for reading this repository, wherever it is.
        '--ambient-caps=+net_raw,+dac_read_search',
      ],
    ],
    [
      'of a root that may not end processes of others',
      ['--bounding-set=-kill', '--inh-caps=-kill'],
    ],
  ])('with no more than the right %s it captures and ends', async (_right, options) => {
    const machines = new TwoMachines();
    const agent = await open(machines, 'setpriv', ...options);
    expect(agent).toMatchObject({ lack: null });
    await agent.do('start', { filter: tcp(there, 83), ...bounds });
    await agent.do('connect', { host: there, port: 83, limitMs: 3000 });
    expect(shownPackets(await agent.stop())).toHaveLength(2);
    await agent.do('start', { filter: tcp(there, 83), ...bounds });
    await agent.do('abort', {});
    await eventually(() => evidenceProcessesOf(agent.pid, 'capture').length === 0);
  });

  it('the next start ends the captures of a killed agent and none of live agents', async () => {
    const machines = new TwoMachines();
    const [killed, living, contained] = await Promise.all([
      open(machines),
      open(machines),
      // Inside a container pids are separate: its agent has the pid 1.
      open(machines, 'unshare', '--pid', '--fork', '--mount-proc', '--kill-child'),
    ]);
    for (const agent of [killed, living, contained]) {
      await agent.do('start', { filter: tcp(there, 83), limitMs: 60_000, maxBytes: FIVE_MB });
    }
    const [left] = evidenceProcessesOf(killed.pid, 'capture');
    await killed.kill();
    expect(evidenceProcessesOf(killed.pid, 'capture')).toEqual([left]);

    const { log, records } = captureLog();
    expect(await endOrphans({ log })).toBeGreaterThanOrEqual(1);
    await eventually(() => evidenceProcessesOf(killed.pid, 'capture').length === 0);
    expect(records()).toEqual([]);

    for (const agent of [living, contained]) {
      await agent.do('connect', { host: there, port: 83, limitMs: 3000 });
      expect(shownPackets(await agent.stop()).length).toBeGreaterThanOrEqual(2);
    }
  });

  it('the capture of a killed agent ends with its next packet, even without a next start', async () => {
    const machines = new TwoMachines();
    const [killed, other] = await Promise.all([open(machines), open(machines)]);
    await killed.do('start', { filter: tcp(there, 83), limitMs: 60_000, maxBytes: FIVE_MB });
    await killed.kill();
    await other.do('connect', { host: there, port: 83, limitMs: 3000 });
    await eventually(() => evidenceProcessesOf(killed.pid, 'capture').length === 0);
  });
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { forwardTo, openPorts } from '../support/network/namespace-ports.ts';
import { RoutedNetwork } from '../support/network/routed-network.ts';
import { endChild } from '../support/process/end-child.ts';
import { evidenceProcessesOf } from '../support/process/evidence-processes.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import {
  type RunningAgent,
  type RunningService,
  startAgent,
  startService,
  until,
  untilResults,
} from '../support/service/deployment.ts';

const SERVICE_PORT = 8080;
const TARGET = '10.80.4.2';
const PORT = 4300;
const CHATTER_PORT = 4301;

const lacks = lacking({
  commands: ['ip', 'nft', 'sysctl', 'traceroute', 'tcpdump'],
  files: [],
});

/** A target that accepts connections and resets them at the first request, and one that answers. */
const TARGET_PROGRAM = `
  import { createServer } from 'node:net';
  const server = (serve) => createServer((socket) => serve(socket.on('error', () => {})));
  server((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(${PORT}, '0.0.0.0');
  server((socket) => socket.pipe(socket)).listen(${CHATTER_PORT}, '0.0.0.0', () => console.log('up'));
`;

describe.skipIf(lacks !== null)(`Evidence of failures (lacking: ${lacks ?? 'nothing'})`, () => {
  let network: RoutedNetwork;

  beforeAll(() => {
    network = new RoutedNetwork();
  });
  afterAll(() => {
    network.remove();
  });

  /** A service outside, an agent in the first network, and the target behind three routers. */
  async function deploy(): Promise<Deployed> {
    const target = network.target.start(
      process.execPath,
      '--input-type=module',
      '-e',
      TARGET_PROGRAM,
    );
    onTestFinished(() => endChild(target));
    await once(target.stdout, 'data');
    const service = await startService();
    await openPorts(network.agent, { [SERVICE_PORT]: forwardTo(service.port) });
    const location = await service.addLocation('home');
    const agent = await startAgent({
      serviceUrl: `http://127.0.0.1:${SERVICE_PORT}`,
      key: location.key,
      dataDir: makeTestFolder(),
      prefix: ['ip', 'netns', 'exec', network.agent.name],
    });
    await agent.logged(/capturing packets of network failures/);
    return { service, agent, slug: location.slug };
  }

  it('evidence names the hop where a dropped route ends and has the unanswered packets', {
    timeout: 300_000,
  }, async () => {
    network.clearRules();
    const { service, agent, slug } = await deploy();
    const [id] = await Promise.all([
      service.addCheck('tcp', checkBody(slug, { hostname: TARGET, port: PORT })),
    ]);
    // Other ports of the same host always have traffic.
    const chatter = network.agent.start(process.execPath, '-e', chatterTo(TARGET, CHATTER_PORT));
    onTestFinished(() => endChild(chatter));
    network.rule(2, 'forward', `tcp dport ${PORT} drop`);
    network.rule(2, 'forward', 'meta l4proto { udp, icmp } drop');
    const result = await runOnce(service, id);

    const { tcpCheckResult: detail } = result;
    expect(detail.requestErrorCode).toBe('CONNECT_TIMEOUT');
    expect(detail.traceroute).toMatchObject({
      hostname: TARGET,
      resolvedIp: TARGET,
      destinationReached: false,
      truncationReason: 'no answer after hop 2',
    });
    expect(detail.traceroute.hops.map(({ address }: { address: string }) => address)).toEqual([
      '10.80.1.2',
      '10.80.2.2',
      null,
    ]);
    const packets = await packetsOf(service, detail.pcapDataUrl);
    expect(packets.length).toBeGreaterThanOrEqual(2);
    for (const packet of packets) {
      expect(packet).toMatch(/10\.80\.1\.1\.\d+ > 10\.80\.4\.2\.4300: Flags \[S\]/);
    }
    expect(detail.jobAssets).toHaveLength(2);
    const story = detail.jobLog.map(({ msg }: { msg: string }) => msg).join('\n');
    expect(story).toContain('CONNECT_TIMEOUT');
    expect(story).toContain('ends before the destination: no answer after hop 2');
    expect(story).toMatch(/Captured \d+ packets of a repeated attempt/);
    expect(story).toContain(`Failed in the phase "connect", towards ${TARGET}:${PORT} (TCP)`);
    expect(story).toContain('What to try: Check whether a firewall or security group drops');
    await until(
      async () => [
        ...evidenceProcessesOf(agent.pid, 'capture'),
        ...evidenceProcessesOf(agent.pid, 'traceroute'),
      ],
      (left) => left.length === 0,
    );
  });

  it('evidence has a reset and a refusal in the capture, and the whole route in the trace', {
    timeout: 300_000,
  }, async () => {
    network.clearRules();
    const { service, slug } = await deploy();
    const reset = await service.addCheck('url', {
      ...checkBody(slug, {}),
      request: { url: `http://${TARGET}:${PORT}/` },
    });
    const refused = await service.addCheck('tcp', checkBody(slug, { hostname: TARGET, port: 9 }));
    const [ofReset, ofRefused] = await Promise.all([
      runOnce(service, reset),
      runOnce(service, refused),
    ]);
    const { apiCheckResult } = ofReset;
    expect(apiCheckResult.requestErrorCode).toBe('CONNECTION_RESET');
    expect(apiCheckResult.traceroute).toMatchObject({ destinationReached: true });
    const resetPackets = await packetsOf(service, apiCheckResult.pcapDataUrl);
    expect(resetPackets.some((packet) => /4300 > .*Flags \[R/.test(packet))).toBe(true);
    const { tcpCheckResult } = ofRefused;
    expect(tcpCheckResult.requestErrorCode).toBe('CONNECT_REFUSED');
    const refusedPackets = await packetsOf(service, tcpCheckResult.pcapDataUrl);
    expect(refusedPackets).toHaveLength(2);
    expect(refusedPackets[1]).toMatch(/10\.80\.4\.2\.9 > .*Flags \[R\.\]/);
  });

  it('evidence shows the queries to a DNS server that is away', { timeout: 300_000 }, async () => {
    network.clearRules();
    const { service, slug } = await deploy();
    const request = { query: 'shop.example', nameServer: TARGET, port: 53 };
    network.rule(3, 'forward', 'udp dport 53 drop');
    const id = await service.addCheck('dns', checkBody(slug, request));
    const { dnsCheckResult: detail } = await runOnce(service, id);
    expect(detail.requestErrorCode).toBe('DNS_TIMEOUT');
    expect(detail.traceroute).toMatchObject({ destinationReached: true });
    const packets = await packetsOf(service, detail.pcapDataUrl);
    expect(packets.length).toBeGreaterThanOrEqual(1);
    for (const packet of packets) expect(packet).toMatch(/> 10\.80\.4\.2\.53: .*A\? shop\.example/);
  });

  it('the next start ends all evidence processes of a killed agent', {
    timeout: 300_000,
  }, async () => {
    network.clearRules();
    const { service, agent, slug } = await deploy();
    network.rule(2, 'forward', `tcp dport ${PORT} drop`);
    network.rule(2, 'forward', 'meta l4proto { udp, icmp } drop');
    // The attempt itself is short, so that the evidence begins soon.
    const id = await service.addCheck('icmp', {
      ...checkBody(slug, {}),
      request: { hostname: TARGET, pingCount: 1 },
    });
    await untilCaptured(service, id, agent);
    await agent.kill('SIGKILL');
    const next = await startAgent({
      serviceUrl: `http://127.0.0.1:${SERVICE_PORT}`,
      key: (await service.addLocation('other')).key,
      prefix: ['ip', 'netns', 'exec', network.agent.name],
    });
    await next.logged(/capturing packets of network failures/);
    expect(evidenceProcessesOf(agent.pid, 'capture')).toEqual([]);
    expect(evidenceProcessesOf(agent.pid, 'traceroute')).toEqual([]);
  });
});

interface Deployed {
  readonly service: RunningService;
  readonly agent: RunningAgent;
  readonly slug: string;
}

/** Its slots are an hour away; it runs on request. */
function checkBody(slug: string, request: object): Record<string, unknown> {
  return {
    name: 'home',
    privateLocations: [slug],
    frequency: 60,
    retryStrategy: null,
    doubleCheck: false,
    request,
  };
}

/** The result of an immediate run. */
// biome-ignore lint/suspicious/noExplicitAny: the answer is any JSON
async function runOnce(service: RunningService, checkId: string): Promise<any> {
  const asked = await service.ask(`/v1/checks/${checkId}/run`, { method: 'POST', body: {} });
  expect(asked.status, asked.text).toBeLessThan(300);
  const { json } = await untilResults(service.ask, checkId, { query: '?resultType=FINAL' });
  return json[0];
}

/**
 * Runs the check, again each time that a run has ended, until its packets are captured: an agent
 * without enough CPU gathers no evidence.
 */
async function untilCaptured(
  service: RunningService,
  checkId: string,
  agent: RunningAgent,
): Promise<void> {
  let ended = -1;
  for (;;) {
    const { json } = await service.ask(`/v1/check-results/${checkId}?resultType=FINAL`);
    if (json.length > ended) {
      ended = json.length;
      await service.ask(`/v1/checks/${checkId}/run`, { method: 'POST', body: {} });
    }
    // A key may list results once a second.
    for (let polls = 0; polls < 25; polls += 1) {
      if (evidenceProcessesOf(agent.pid, 'capture').length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** tcpdump's lines. */
async function packetsOf(service: RunningService, path: string): Promise<readonly string[]> {
  const url = `${service.url}${path}`;
  const ask = (): Promise<Response> =>
    fetch(url, { headers: { authorization: `Bearer ${service.apiKey}`, connection: 'close' } });
  const answer = await until(ask, ({ ok }) => ok);
  const file = join(makeTestFolder(), 'capture.pcap');
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  const printed = execFileSync('tcpdump', ['-nr', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return printed.trim().split('\n');
}

/** A program that sends to a port in an endless loop. */
function chatterTo(host: string, port: number): string {
  return `
    const socket = require('node:net').connect(${port}, '${host}');
    socket.on('data', () => {}).on('error', () => {});
    setInterval(() => socket.write('chatter'), 20);
  `;
}

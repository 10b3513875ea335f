import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { JobLog } from '../../../../src/agent/probes/job-log.ts';
import { concludeLog } from '../../../../src/agent/run/conclude-log.ts';
import type { RunnerParts } from '../../../../src/agent/run/run.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';
import { resultFor } from '../../../support/samples/results.ts';
import { startDnsResponder } from '../../../support/servers/dns-responder.ts';
import { servingZone } from '../../../support/servers/dns-zone.ts';
import { listen } from '../../../support/servers/http-servers.ts';
import { refusingPort } from '../../../support/servers/tcp-servers.ts';

/** The last lines of the job log of a check's only attempt. */
async function conclusionOf(
  type: 'API' | 'TCP' | 'DNS',
  fields: CheckFields,
  parts: Partial<RunnerParts> = {},
): Promise<readonly string[]> {
  const fixture = runFixture({ clock: systemClock, parts });
  await fixture.run(checkOf(type, { retryStrategy: null, ...fields }));
  const [result] = fixture.results;
  return (jobLogOf(result) ?? []).map(({ level, msg }) => `${level}: ${msg}`);
}

function jobLogOf(result: CheckResult | undefined) {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult } = result ?? {};
  return (apiCheckResult ?? tcpCheckResult ?? dnsCheckResult)?.jobLog;
}

async function answering(status: number): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end('no'));
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}/`;
}

it('logs for a refused connection what failed, where, and what to try', async () => {
  const { port } = await refusingPort();
  const log = await conclusionOf('TCP', { request: { hostname: 'localhost', port } });
  const text = log.join('\n');
  expect(text).toMatch(/^error: CONNECT_REFUSED: /m);
  expect(log.at(-2)).toBe(
    `info: Failed in the phase "connect", towards localhost:${port} at 127.0.0.1 (TCP)`,
  );
  expect(log.at(-1)).toMatch(/^info: What to try: Check that the service is running and listens/);
});

it('logs an unexpected status', async () => {
  const url = await answering(503);
  const log = await conclusionOf('API', { request: { url } });
  expect(log.slice(-3)).toEqual([
    'error: Failed: status 503; under 400 is needed',
    expect.stringMatching(
      /^info: Failed in the phase "response", towards 127\.0\.0\.1:\d+ \(TCP\)$/,
    ),
    expect.stringMatching(/^info: What to try: Compare the response/),
  ]);
});

it('logs the slowest phase of a run that took too long', async () => {
  const url = await answering(200);
  const thresholds = { degradedResponseTime: 0, maxResponseTime: 0 };
  const log = await conclusionOf('API', { request: { url }, ...thresholds });
  expect(log.at(-3)).toMatch(/^error: Failed: .* ms, over 0 ms: failed$/);
  expect(log.at(-1)).toMatch(/^info: What to try: Check the phase ".+", which took the most time/);
});

it('logs nothing for an attempt that passed', async () => {
  const url = await answering(200);
  const log = await conclusionOf('API', { request: { url } });
  expect(log.join('\n')).not.toContain('What to try');
});

it('logs only the first of many failed assertions', async () => {
  const assertions = Array.from({ length: 50 }, (_, index) => ({
    source: 'TEXT_BODY',
    property: '',
    comparison: 'EQUALS',
    target: `${index}`,
    regex: null,
  }));
  const log = await conclusionOf('API', { request: { url: await answering(404), assertions } });
  expect(log.filter((line) => line.startsWith('error: Failed: '))).toHaveLength(12);
  expect(log.at(-1)).toMatch(/^info: What to try/);
});

it('logs a degraded run as degraded, not as failed', async () => {
  const url = await answering(200);
  const thresholds = { degradedResponseTime: 0, maxResponseTime: null };
  const log = await conclusionOf('API', { request: { url }, ...thresholds });
  expect(log.at(-3)).toMatch(/^warn: Degraded: .* ms, over 0 ms: degraded$/);
  expect(log.at(-2)).toMatch(/^info: Degraded in the phase ".+", towards 127\.0\.0\.1:/);
  expect(log.join('\n')).not.toMatch(/Failed/);
});

it('suggests packet loss if connecting took long and the SYN was retransmitted', () => {
  const check = checkOf('TCP', { degradedResponseTime: 500 });
  const log = new JobLog(systemClock);
  const tcpCheckResult = {
    ...{ requestError: null, requestErrorCode: null, assertions: [] },
    response: { data: '', address: '192.0.2.7', port: 443, ipFamily: 'IPv4' },
    timingPhases: { dns: 3, connection: 1020, data: 0, total: 1023 },
    tcp: { peer: 'target', rttMs: 20, minRttMs: 20, retransmits: 1, mss: 1448 },
  } as never;
  const fields = {
    checkType: 'TCP',
    isDegraded: true,
    responseTime: 1023,
    tcpCheckResult,
  } as const;
  const endpoint = { hostname: 'a.test', address: '192.0.2.7', port: 443 } as const;
  concludeLog(resultFor(fields), check, { ...endpoint, transport: 'tcp' }, log);
  expect(log.entries().at(-1)?.msg).toBe(
    'What to try: Check for packet loss on the way to the target, and whether it accepts connections fast enough: the phase "connection" took the most time (1020 ms), and segments were retransmitted (1).',
  );
});

it.each([
  [149.9, 'data'],
  [150, 'response'],
])('names a phase of 150 ms only if less of it is uncertain: %d ms', (uncertaintyMs, phase) => {
  const isNamed = phase === 'data';
  const check = checkOf('TCP', { degradedResponseTime: 200 });
  const log = new JobLog(systemClock);
  const tcpCheckResult = {
    ...{ requestError: null, requestErrorCode: null, assertions: [], tcp: null },
    response: { data: '', address: '192.0.2.7', port: 443, ipFamily: 'IPv4' },
    timingPhases: { dns: 130, connection: 120, data: 150, total: 400 },
    timing: { uncertaintyMs, clock: 'mixed' },
  } as never;
  const timed = { checkType: 'TCP', isDegraded: true, responseTime: 400 } as const;
  const endpoint = { hostname: 'a.test', address: '192.0.2.7', port: 443 } as const;
  concludeLog(
    resultFor({ ...timed, tcpCheckResult }),
    check,
    { ...endpoint, transport: 'tcp' },
    log,
  );
  const [said, advice] = log.entries().slice(-2);
  expect(said?.msg).toBe(`Degraded in the phase "${phase}", towards a.test:443 at 192.0.2.7 (TCP)`);
  expect(advice?.msg.includes('which took the most time (150 ms)')).toBe(isNamed);
  expect(advice?.msg.includes('The agent was short of CPU')).toBe(!isNamed);
});

it('logs for lost echoes what to check, without times', () => {
  const check = checkOf('ICMP');
  const log = new JobLog(systemClock);
  const response = { packetLoss: 10, packetsSent: 10, packetsReceived: 9 };
  const icmpCheckResult = {
    ...{ requestError: null, requestErrorCode: null, assertions: [], response },
    timingPhases: { dns: 900, total: 5000 },
  } as never;
  const result = resultFor({ checkType: 'ICMP', isDegraded: true, icmpCheckResult });
  const endpoint = { hostname: 'a.test', address: '192.0.2.7', port: null } as const;
  concludeLog(result, check, { ...endpoint, transport: 'icmp' }, log);
  expect(log.entries().map(({ msg }) => msg)).toEqual([
    'Degraded: 10 % of the echoes were lost, 10 % or more: degraded',
    'Degraded in the phase "icmp", towards a.test at 192.0.2.7 (ICMP)',
    'What to try: Check for packet loss and delay on the way to the target: mtr TARGET from the host of the agent.',
  ]);
});

it('logs the name servers for a name without an address, and the server of an answer', async () => {
  const zone = await startDnsResponder({ udp: servingZone({}) });
  onTestFinished(() => zone.close());
  const request = { query: 'shop.test', nameServer: '127.0.0.1', port: zone.port };
  const answered = await conclusionOf('DNS', { request });
  expect(answered.at(-2)).toBe(
    `info: Failed in the phase "response", towards 127.0.0.1:${zone.port} (DNS)`,
  );
  const failure = { code: 'DNS_TIMEOUT', message: 'nobody answered' } as const;
  const resolver: RunnerParts['resolver'] = { resolve: async () => ({ ok: false, failure }) };
  const asked = { request: { hostname: 'shop.test', port: 80 } };
  const log = await conclusionOf('TCP', asked, { resolver });
  expect(log.at(-2)).toBe('info: Failed in the phase "dns", asking the name servers for shop.test');
});

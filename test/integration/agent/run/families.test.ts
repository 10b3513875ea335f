import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SharedBodyMemory } from '../../../../src/agent/probes/http/body/body-memory.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { staticResolver } from '../../../support/agent/probe-context.ts';
import { runFixture } from '../../../support/agent/run-fixture.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { icmpCapability } from '../../../support/network/icmp-capability.ts';
import { onOnePort } from '../../../support/network/on-one-port.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';
import { listening } from '../../../support/servers/tcp-servers.ts';

const mayPing = (await icmpCapability()) !== 'none';
const resolver = staticResolver({
  'dual.test': ['127.0.0.1', '::1'],
  'four.test': ['127.0.0.1'],
});

async function run(type: 'URL' | 'TCP' | 'ICMP', fields: CheckFields): Promise<CheckResult> {
  const fixture = runFixture({ clock: systemClock, parts: { resolver } });
  await fixture.run(checkOf(type, { doubleCheck: false, ...fields }));
  const [result] = fixture.results;
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(fixture.missed)}`);
  return result;
}

/** Web servers of one port on both loopback addresses, each with its status. */
async function webServers(statusOf: { readonly four: number; readonly six: number }) {
  const serve = (status: number, host: string, port: number) => {
    const server = createServer((_request, response) => {
      response.statusCode = status;
      response.end(String(status));
    });
    return listening(server, host, port);
  };
  const servers = await onOnePort(
    () => serve(statusOf.six, '::1', 0),
    (port) => serve(statusOf.four, '127.0.0.1', port),
  );
  for (const server of servers) onTestFinished(() => server.close());
  return servers[0].port;
}

describe('a check of both address families', () => {
  it.each([
    [{ four: 200, six: 200 }, 'passes where each passes', [false, 'passed', 'passed']],
    [
      { four: 200, six: 503 },
      'fails with the response of the one that fails',
      [true, 'passed', 'failed'],
    ],
    [{ four: 404, six: 200 }, 'fails with the response of IPv4, too', [true, 'failed', 'passed']],
  ] as const)('with the statuses %j %s', async (statusOf, _what, [hasFailures, four, six]) => {
    const url = `http://dual.test:${await webServers(statusOf)}/`;
    const result = await run('URL', { request: { url, ipFamily: 'BOTH' } });
    expect(result).toMatchObject({ hasFailures, hasErrors: false });
    const { response, families, jobLog } = result.apiCheckResult ?? {};
    expect(families).toMatchObject([
      { ipFamily: 'IPv4', address: '127.0.0.1', outcome: four, responseTime: expect.any(Number) },
      { ipFamily: 'IPv6', address: '::1', outcome: six, responseTime: expect.any(Number) },
    ]);
    expect(response?.status).toBe(Math.max(statusOf.four, statusOf.six));
    const other = response?.ipFamily === 'IPv4' ? 'IPv6' : 'IPv4';
    expect(jobLog?.map(({ msg }) => msg).join()).toContain(`Over ${other} this attempt passed in`);
  });

  it('has the slower family as its result where both pass', async () => {
    const url = `http://dual.test:${await webServers({ four: 200, six: 200 })}/`;
    const result = await run('URL', { request: { url, ipFamily: 'BOTH' } });
    const times = result.apiCheckResult?.families?.map(({ responseTime }) => responseTime ?? 0);
    expect(result.responseTime).toBe(Math.max(...(times ?? [])));
  });

  it('fails where the name lacks a family', async () => {
    const { port } = await listeningOn('127.0.0.1');
    const request = { hostname: 'four.test', port, ipFamily: 'BOTH' };
    const result = await run('TCP', { request });
    expect(result).toMatchObject({ hasFailures: true, hasErrors: false });
    expect(result.tcpCheckResult).toMatchObject({
      requestErrorCode: 'DNS_NO_ADDRESS',
      families: [{ outcome: 'passed' }, { outcome: 'failed', address: null }],
    });
  });

  it('fails where one fails, though there is no memory for the body of the other', async () => {
    const text = 'This is long. '.repeat(10_000);
    const six = createServer((_request, response) => void response.end(text));
    const four = createTcpServer((socket) => socket.destroy());
    const servers = await onOnePort(
      () => listening(six, '::1', 0),
      (port) => listening(four, '127.0.0.1', port),
    );
    for (const server of servers) onTestFinished(() => server.close());
    const bodyRoom = new SharedBodyMemory(text.length);
    bodyRoom.open(true).take(text.length, 'assertions');
    const fixture = runFixture({ clock: new FakeClock(), parts: { resolver, bodyRoom } });
    const request = {
      url: `http://dual.test:${servers[0].port}/`,
      ipFamily: 'BOTH',
      assertions: [{ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'long' }],
    };
    await fixture.run(checkOf('API', { doubleCheck: false, request }));
    expect(fixture.missed).toEqual([]);
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
    const { families, jobLog } = fixture.results[0]?.apiCheckResult ?? {};
    expect(families).toMatchObject([
      {
        ipFamily: 'IPv4',
        outcome: 'failed',
        requestErrorCode: expect.not.stringMatching('INTERNAL'),
      },
      { ipFamily: 'IPv6', outcome: 'failed', requestErrorCode: 'INTERNAL_ERROR' },
    ]);
    expect(jobLog?.map(({ msg }) => msg).join()).toContain(
      'Over IPv6 this attempt ended with INTERNAL_ERROR: This family was not judged: the agent had no memory',
    );
  });

  it('does not blame a family for a failure that the agent may have caused', async () => {
    const clock = new FakeClock();
    // It closes the connection with a client that stood still.
    const six = createTcpServer((socket) => {
      void clock.stall(4000).then(() => socket.destroy());
    });
    const four = createServer((_request, response) => void response.writeHead(503).end());
    const servers = await onOnePort(
      () => listening(six, '::1', 0),
      (port) => listening(four, '127.0.0.1', port),
    );
    for (const server of servers) onTestFinished(() => server.close());
    const fixture = runFixture({ clock, parts: { resolver } });
    const url = `http://dual.test:${servers[0].port}/`;
    const request = { url, ipFamily: 'BOTH' };
    await fixture.run(checkOf('URL', { doubleCheck: false, request }));
    expect(fixture.results).toMatchObject([{ resultType: 'FINAL', hasFailures: true }]);
    const { families, jobLog } = fixture.results[0]?.apiCheckResult ?? {};
    expect(families).toMatchObject([
      { ipFamily: 'IPv4', outcome: 'failed', requestErrorCode: null },
      { ipFamily: 'IPv6', outcome: 'failed', requestErrorCode: 'INTERNAL_ERROR' },
    ]);
    expect(jobLog?.map(({ msg }) => msg).join()).toContain(
      'Over IPv6 this attempt ended with INTERNAL_ERROR: This family was not judged: the agent was short of CPU',
    );
  });

  it('pings both', async () => {
    const request = { hostname: 'dual.test', pingCount: 1, ipFamily: 'BOTH' };
    const result = await run('ICMP', { request });
    expect(result).toMatchObject({ hasFailures: false, hasErrors: !mayPing });
    const [four, six] = result.icmpCheckResult?.families ?? [];
    const ends = mayPing
      ? { outcome: 'passed' }
      : { outcome: 'failed', requestErrorCode: 'ICMP_NOT_PERMITTED' };
    expect([four, six]).toMatchObject([
      { ipFamily: 'IPv4', ...ends },
      { ipFamily: 'IPv6', ...ends },
    ]);
  });
});

async function listeningOn(host: string) {
  const started = await listening(createServer(), host);
  onTestFinished(() => started.close());
  return started;
}

import { describe, expect, it, onTestFinished } from 'vitest';
import { type Connected, connectTcp } from '../../../../../src/agent/net/connect.ts';
import type { HttpOutcome } from '../../../../../src/agent/probes/http/probe.ts';
import { probeTcp, type TcpOutcome } from '../../../../../src/agent/probes/tcp/probe.ts';
import { tcpRequestSchema } from '../../../../../src/model/check/request/tcp.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { logText, makeContext, staticResolver } from '../../../../support/agent/probe-context.ts';
import {
  beginAndHold,
  greetingThread,
  realStarvation,
} from '../../../../support/process/held-loop.ts';
import { probe } from '../../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../../support/servers/http-servers.ts';
import { blackHole, listenTcp } from '../../../../support/servers/tcp-servers.ts';

const HELD_MS = 150;
const GREETING_MS = 20;
/** The kernel needs a thousandth of that on the loopback. A busy machine adds time slices. */
const FEW_MS = HELD_MS / 2;
// Only Linux has kernel times; elsewhere the event loop measures.
const onLinux = describe.runIf(process.platform === 'linux');

async function server(): Promise<{ readonly hostname: string; readonly port: number }> {
  const listening = await listenTcp((socket) => void socket.resume());
  onTestFinished(() => listening.close());
  return { hostname: '127.0.0.1', port: listening.port };
}

async function connectHeld(
  hostname: string,
  port: number,
): Promise<Connected & { readonly unseenMs: number }> {
  const resolver = staticResolver({ 'two.test': ['127.0.0.2', '127.0.0.1'] });
  const starvation = await realStarvation();
  const context = makeContext({ resolver, starvation });
  const target = { hostname, port, ipFamily: 'IPv4' } as const;
  const outcome = await beginAndHold(HELD_MS, () => connectTcp(target, context));
  if (!outcome.ok) throw new Error(outcome.failure.message);
  onTestFinished(() => void outcome.socket.destroy());
  return { ...outcome, unseenMs: starvation.unseenMs };
}

onLinux('the connect time, where the event loop is held', () => {
  it('is the time of the kernel', async () => {
    const { hostname, port } = await server();
    const { tcpMs, kernelMs, dnsMs, unseenMs } = await connectHeld(hostname, port);
    expect(kernelMs).toBeGreaterThan(0);
    expect(kernelMs).toBeCloseTo(tcpMs, 6);
    expect(tcpMs).toBeLessThan(FEW_MS);
    expect(dnsMs).toBe(0);
    expect(unseenMs + tcpMs).toBeGreaterThanOrEqual(HELD_MS);
  });

  it('includes the time of the addresses before, as the event loop saw it', async () => {
    const { port } = await server();
    const { address, tcpMs, kernelMs } = await connectHeld('two.test', port);
    expect(address).toBe('127.0.0.1');
    expect(kernelMs).toBeGreaterThan(0);
    expect(tcpMs - kernelMs).toBeGreaterThanOrEqual(HELD_MS);
  });

  it('makes the time of a TCP check certain', async () => {
    const starvation = await realStarvation();
    const context = makeContext({ starvation });
    const request = tcpRequestSchema.parse(await server());
    const outcome = await beginAndHold(HELD_MS, () => probeTcp(request, context, async () => true));
    expect(outcome.responseTimeMs).toBeLessThan(FEW_MS);
    expect(outcome).toMatchObject({
      clock: 'kernel',
      timings: { lookup: 0, connect: outcome.responseTimeMs },
      tcp: { peer: 'target', retransmits: 0, rttMs: outcome.responseTimeMs },
    });
    expect(outcome.peerMs).toBeCloseTo(outcome.responseTimeMs, 2);
    // The meter measures every 20 ms, and misses at most that much of the stall.
    expect(starvation.starvedMs - starvation.uncertainMs).toBeGreaterThan(0);
  });
});

onLinux('a check of a name whose first address refuses, where the event loop is held', () => {
  it.each(['URL', 'TCP'])('attributes only a part of that time to the peer (%s)', async (type) => {
    const target = await rawServer(answering(response('200 OK', 'ok')));
    const resolver = staticResolver({ 'two.test': ['127.0.0.2', '127.0.0.1'] });
    const context = makeContext({ resolver, starvation: await realStarvation() });
    const { port } = target;
    const request = tcpRequestSchema.parse({ hostname: 'two.test', port });
    const outcome = await beginAndHold<HttpOutcome | TcpOutcome>(HELD_MS, () =>
      type === 'URL'
        ? probe(`http://two.test:${port}/`, { context })
        : probeTcp(request, context, async () => true),
    );
    expect(outcome.failure).toBeNull();
    expect(outcome.responseTimeMs - outcome.peerMs).toBeGreaterThanOrEqual(HELD_MS);
  });
});

onLinux('a TCP check whose target speaks first, where the event loop is held', () => {
  it('includes the time until the target sent data', async () => {
    const target = await greetingThread(GREETING_MS);
    const starvation = await realStarvation();
    const context = makeContext({ starvation });
    const assertions = [{ source: 'RESPONSE_DATA', comparison: 'CONTAINS', target: 'hello' }];
    const request = tcpRequestSchema.parse({
      ...{ hostname: '127.0.0.1', port: target.port, assertions },
    });
    const outcome = await beginAndHold(
      HELD_MS,
      () => probeTcp(request, context, async (data) => data.includes('hello')),
      target.untilGreeted,
    );
    expect(outcome).toMatchObject({ failure: null, response: { data: 'hello' } });
    expect(outcome.responseTimeMs).toBeGreaterThanOrEqual(GREETING_MS - 1);
    expect(outcome.clock).toBe('event-loop');
    expect(starvation.unseenMs).toBe(0);
  });
});

onLinux('a URL check, where the event loop is held while it connects', () => {
  it('excludes the stall from all its times', async () => {
    const target = await rawServer(answering(response('200 OK', 'ok')));
    const starvation = await realStarvation();
    const context = makeContext({ starvation });
    const startMs = systemClock.monotonicMs();
    const outcome = await beginAndHold(HELD_MS, () => probe(target.url('/'), { context }));
    const elapsedMs = systemClock.monotonicMs() - startMs;
    expect(outcome.failure).toBeNull();
    const { total, ...phases } = outcome.timingPhases;
    expect(total).toBeLessThan(elapsedMs - HELD_MS);
    expect(Object.values(phases).reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(total, 2);
    expect(phases.tcp).toBeLessThan(FEW_MS);
    expect(outcome.timings.connect).toBeLessThan(FEW_MS);
    expect(outcome.timings.end).toBe(total);
    expect(outcome.tcp).toMatchObject({ peer: 'target', retransmits: expect.any(Number) });
  });
});

onLinux('a SYN that was lost', () => {
  it('explains a slow connect, which the event loop then times', async () => {
    const target = await blackHole();
    onTestFinished(() => target.close());
    const context = makeContext({ starvation: await realStarvation() });
    const destination = { hostname: '127.0.0.1', port: target.port, ipFamily: 'IPv4' } as const;
    const connecting = connectTcp(destination, context);
    setImmediate(() => target.accept());
    const outcome = await connecting;
    if (!outcome.ok) throw new Error(outcome.failure.message);
    outcome.socket.destroy();
    expect(outcome).toMatchObject({ kernelMs: 0, handshake: { retransmits: 1 } });
    expect(outcome.tcpMs).toBeGreaterThanOrEqual(1000);
    expect(logText(context)).toContain(
      `127.0.0.1:${target.port} answered only when the SYN was sent again after 1 s`,
    );
  });

  it('is in the message of a timeout', async () => {
    const target = await blackHole();
    onTestFinished(() => target.close());
    const context = makeContext({ starvation: await realStarvation(), deadlineInMs: 1500 });
    const destination = { hostname: '127.0.0.1', port: target.port, ipFamily: 'IPv4' } as const;
    const outcome = await connectTcp(destination, context);
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'CONNECT_TIMEOUT' } });
    const message = outcome.ok ? '' : outcome.failure.message;
    expect(message).toMatch(/though the SYN was sent again after 1 s$/);
  });
});

it('is timed by the event loop if the kernel state is not available', async () => {
  const { hostname, port } = await server();
  const target = { hostname, port, ipFamily: 'IPv4' } as const;
  const outcome = await beginAndHold(HELD_MS, () => connectTcp(target, makeContext()));
  if (!outcome.ok) throw new Error(outcome.failure.message);
  onTestFinished(() => void outcome.socket.destroy());
  expect(outcome).toMatchObject({ kernelMs: 0, handshake: null });
  expect(outcome.tcpMs).toBeGreaterThanOrEqual(HELD_MS);
});

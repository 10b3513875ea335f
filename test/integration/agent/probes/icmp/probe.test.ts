import { readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import koffi from 'koffi';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  ECHO_TIMEOUT_MS,
  EchoExchange,
} from '../../../../../src/agent/probes/icmp/echo-exchange.ts';
import { PingSocket } from '../../../../../src/agent/probes/icmp/ping-socket.ts';
import { createIcmpProbe, type IcmpProbe } from '../../../../../src/agent/probes/icmp/probe.ts';
import { LINUX, type Libc, loadLibc } from '../../../../../src/agent/probes/icmp/socket-calls.ts';
import type { ProbeContext } from '../../../../../src/agent/probes/probe.ts';
import { icmpRequestSchema } from '../../../../../src/model/check/request/icmp.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { logText, makeContext, staticResolver } from '../../../../support/agent/probe-context.ts';
import { canOpenRawSocket, icmpCapability } from '../../../../support/network/icmp-capability.ts';

/**
 * With either right to ping (an open ping_group_range; root with net-ping's addon built for this
 * Node) echoes must come back; with neither, every test below that pings must get the one error
 * that says how to grant it. CI has the first as root under the minimum Node, and the second
 * under the current LTS, for which the addon is not built.
 */
const capability = await icmpCapability();
const mayPing = capability !== 'none';
const mayOpenRawSocket = process.platform === 'linux' && (await canOpenRawSocket());
const hasIpv6Loopback = (networkInterfaces().lo ?? []).some(({ family }) => family === 'IPv6');

const probes: IcmpProbe[] = [];
afterEach(() => {
  for (const probe of probes.splice(0)) probe.close();
});

/** Blocks the event loop without using a CPU. */
function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function makeProbe(): IcmpProbe {
  const probe = createIcmpProbe({ clock: systemClock });
  probes.push(probe);
  return probe;
}

function ping(request: object, context: ProbeContext = makeContext(), probe = makeProbe()) {
  return probe.probe(icmpRequestSchema.parse(request), context);
}

const NOT_PERMITTED = {
  code: 'ICMP_NOT_PERMITTED',
  message: expect.stringMatching(/net\.ipv4\.ping_group_range="0 2147483647".*CAP_NET_RAW/),
};

describe(`the ICMP probe (right to ping: ${capability})`, () => {
  const families = [
    ['IPv4', '127.0.0.1'],
    ...(hasIpv6Loopback ? ([['IPv6', '::1']] as const) : []),
  ] as const;

  it.each(families)('pings the loopback address over %s', async (ipFamily, address) => {
    const context = makeContext();
    const request = { hostname: 'localhost', pingCount: 2, ipFamily };
    const outcome = await ping(request, context);
    expect(outcome.request).toEqual(request);
    if (!mayPing) {
      expect(outcome).toMatchObject({ response: null, failure: NOT_PERMITTED, responseTimeMs: 0 });
      return;
    }
    expect(outcome.failure).toBeNull();
    const { response } = outcome;
    expect(response).toMatchObject({
      hostname: 'localhost',
      resolvedIp: address,
      ipFamily,
      pingCount: 2,
      packetsSent: 2,
      packetsReceived: 2,
      packetLoss: 0,
    });
    const ttl = capability === 'raw socket' && ipFamily === 'IPv6' ? null : 64;
    expect(response?.pingResults).toMatchObject([
      { sequence: 1, success: true, ttl },
      { sequence: 2, success: true, ttl },
    ]);
    const rtts = response?.pingResults.map(({ rtt }) => rtt ?? Number.NaN) ?? [];
    expect(Math.min(...rtts)).toBeGreaterThan(0);
    expect(response?.latency).toMatchObject({ min: Math.min(...rtts), max: Math.max(...rtts) });
    expect(outcome.responseTimeMs).toBe(response?.latency.avg);
    expect(outcome.timingPhases.total).toBeGreaterThanOrEqual(500);
    expect(logText(context)).toContain(`sending 2 echo requests of 56 data bytes to ${address}`);
  });

  it('pings an IPv6 address in brackets', async () => {
    const request = { hostname: '[::1]', pingCount: 1, ipFamily: 'IPv6' };
    const { failure, response } = await ping(request);
    if (!mayPing) expect(failure).toMatchObject(NOT_PERMITTED);
    else if (hasIpv6Loopback) expect(response?.resolvedIp).toBe('::1');
    else expect(failure?.code).toBe('ICMP_UNREACHABLE');
  });

  it('separates three hundred runs on one socket', async () => {
    const probe = makeProbe();
    const hosts = Array.from(
      { length: 300 },
      (_, index) => `127.0.${index >> 8}.${index & 255 || 9}`,
    );
    const outcomes = await Promise.all(
      hosts.map((hostname) => ping({ hostname, pingCount: 1 }, makeContext(), probe)),
    );
    if (!mayPing) {
      for (const { failure } of outcomes) expect(failure).toMatchObject(NOT_PERMITTED);
      return;
    }
    expect(outcomes.map(({ response }) => response?.resolvedIp)).toEqual(hosts);
    expect(outcomes.map(({ response }) => response?.packetsReceived)).toEqual(hosts.map(() => 1));
  });

  it.runIf(process.platform === 'linux')('leaves no descriptor open after its runs', async () => {
    const probe = makeProbe();
    const request = { hostname: '127.0.0.1', pingCount: 1 };
    await ping(request, makeContext(), probe);
    const before = readdirSync('/proc/self/fd').length;
    await ping(request, makeContext(), probe);
    await ping(request, makeContext(), probe);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('sends nothing to an address that TARGET_DENY denies', async () => {
    const guard = {
      isActive: true,
      deniedBy: (address: string) => (address === '127.0.0.1' ? '127.0.0.0/8' : null),
    };
    const context = makeContext({ guard });
    const { response, failure } = await ping({ hostname: 'localhost', pingCount: 1 }, context);
    expect(response).toBeNull();
    expect(failure?.code).toBe('ADDRESS_DENIED');
    expect(failure?.message).toBe(
      'localhost may not be reached: TARGET_DENY blocks it: 127.0.0.1 is in 127.0.0.0/8',
    );
    expect(logText(context)).not.toContain('sending');
  });

  it('skips a denied address if another is permitted', async () => {
    const guard = {
      isActive: true,
      deniedBy: (address: string) => (address === '127.0.0.2' ? '127.0.0.2/32' : null),
    };
    const resolver = staticResolver({ 'two.test': ['127.0.0.2', '127.0.0.3'] });
    const context = makeContext({ guard, resolver });
    const { response, failure } = await ping({ hostname: 'two.test', pingCount: 1 }, context);
    if (mayPing) expect(response?.resolvedIp).toBe('127.0.0.3');
    else expect(failure).toMatchObject(NOT_PERMITTED);
  });

  it("gives the look-up's failure where the name has no address", async () => {
    const { response, failure } = await ping({ hostname: 'nowhere.invalid', pingCount: 1 });
    expect(response).toBeNull();
    expect(failure?.code).toBe('DNS_NXDOMAIN');
  });

  it('is cancelled at once between its echoes', async () => {
    const stop = new AbortController();
    const clock = {
      ...systemClock,
      after(delayMs: number, callback: () => void) {
        // The wait for the second echo, while the first is in progress.
        if (delayMs > 400 && delayMs <= 500) queueMicrotask(() => stop.abort());
        return systemClock.after(delayMs, callback);
      },
    };
    const context = makeContext({ signal: stop.signal, clock });
    const { failure, response } = await ping({ hostname: '127.0.0.1', pingCount: 50 }, context);
    if (!mayPing) {
      expect(failure).toMatchObject(NOT_PERMITTED);
      return;
    }
    expect(failure?.code).toBe('CANCELLED');
    expect(response?.packetsSent).toBe(1);
  });

  it('is cancelled before it began', async () => {
    const context = makeContext({ signal: AbortSignal.abort() });
    const { failure, response } = await ping({ hostname: '127.0.0.1', pingCount: 50 }, context);
    expect(failure?.code).toBe('CANCELLED');
    expect(response).toBeNull();
  });

  it.runIf(process.platform === 'linux')(
    'goes by a raw socket, or says why it cannot, where koffi cannot watch a socket, and only then',
    async () => {
      const { poll } = koffi.node;
      const probe = makeProbe();
      const request = { hostname: '127.0.0.1', pingCount: 1 };
      const context = makeContext();
      Reflect.set(koffi.node, 'poll', undefined);
      try {
        const { failure, response } = await ping(request, context, probe);
        if (mayOpenRawSocket) {
          expect(response?.packetsReceived).toBe(1);
          expect(logText(context)).toContain('through a raw socket');
        } else {
          expect(failure).toMatchObject(NOT_PERMITTED);
          expect(failure?.message).toContain('cannot watch a socket');
        }
      } finally {
        koffi.node.poll = poll;
      }
      const { failure } = await ping(request, makeContext(), probe);
      if (mayPing) expect(failure).toBeNull();
      else expect(failure?.message).not.toContain('cannot watch a socket');
    },
  );

  it('loses no reply that waits in a raw socket while the event loop is held', async () => {
    const { poll } = koffi.node;
    Reflect.set(koffi.node, 'poll', undefined);
    onTestFinished(() => {
      koffi.node.poll = poll;
    });
    // Holds the loop for longer than an echo has, right after its request was sent.
    const clock = {
      ...systemClock,
      after(delayMs: number, callback: () => void) {
        if (delayMs === ECHO_TIMEOUT_MS) queueMicrotask(() => sleepSync(ECHO_TIMEOUT_MS + 100));
        return systemClock.after(delayMs, callback);
      },
    };
    const probe = createIcmpProbe({ clock });
    probes.push(probe);
    const { failure, response } = await ping(
      { hostname: '127.0.0.1', pingCount: 1 },
      makeContext(),
      probe,
    );
    if (!mayOpenRawSocket) {
      expect(failure).toMatchObject(NOT_PERMITTED);
      return;
    }
    expect(failure).toBeNull();
    expect(response).toMatchObject({ packetsSent: 1, packetsReceived: 1 });
  });

  it.runIf(process.platform === 'linux')(
    'leaves no descriptor where a socket was opened and cannot be watched',
    async () => {
      const loaded = await loadLibc();
      if (!loaded.ok) throw new Error(loaded.reason);
      const { libc } = loaded;
      const { AF_INET, SOCK_DGRAM } = LINUX;
      const unwatched: Libc = {
        ...libc,
        // Any process may open this kind, whatever its right to ping is.
        socket: () => libc.socket(AF_INET, SOCK_DGRAM, 0),
        poll: () => {
          throw new Error('no poll today');
        },
      };
      const before = readdirSync('/proc/self/fd').length;
      const exchange = new EchoExchange(systemClock);
      const opened = PingSocket.open(4, unwatched, systemClock, exchange);
      expect(opened).toEqual({ ok: false, reason: 'no poll today' });
      expect(readdirSync('/proc/self/fd').length).toBe(before);
    },
  );

  it('refuses runs after it was closed, as a fault of the agent', async () => {
    const probe = makeProbe();
    probe.close();
    const { failure } = await ping({ hostname: '127.0.0.1', pingCount: 1 }, makeContext(), probe);
    expect(failure?.code).toBe('INTERNAL_ERROR');
  });
});

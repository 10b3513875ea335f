import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Connected,
  connectTcp,
  type NotConnected,
} from '../../../../src/agent/net/connect.ts';
import type { IpFamily } from '../../../../src/model/enums.ts';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { logText, makeContext, staticResolver } from '../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  blackHole,
  type Listening,
  listenTcp,
  refusingPort,
} from '../../../support/servers/tcp-servers.ts';

const FAMILIES: readonly { readonly ipFamily: IpFamily; readonly host: string }[] = [
  { ipFamily: 'IPv4', host: '127.0.0.1' },
  { ipFamily: 'IPv6', host: '::1' },
];

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function opened<Target extends Listening>(target: Promise<Target>): Promise<Target> {
  const listening = await target;
  cleanUps.push(() => listening.close());
  return listening;
}

function connected(outcome: Connected | NotConnected): Connected {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  cleanUps.push(() => outcome.socket.destroy());
  return outcome;
}

function failed(outcome: Connected | NotConnected): NotConnected {
  if (outcome.ok) throw new Error(`connected to ${outcome.address}`);
  return outcome;
}

/** Sockets of this process, those that are still connecting included. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /^TCP(Socket|Connect)Wrap$/.test(name))
    .length;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('connectTcp', () => {
  describe.each(FAMILIES)('over $ipFamily', ({ ipFamily, host }) => {
    it('connects to the address of a name that is of the family', async () => {
      const server = await opened(listenTcp((socket) => socket.end('hello'), host));
      const context = makeContext();
      const target = { hostname: 'localhost', port: server.port, ipFamily };
      const { socket, address, dnsMs, tcpMs, ...rest } = connected(
        await connectTcp(target, context),
      );
      expect(address).toBe(host);
      expect(rest.ipFamily).toBe(ipFamily);
      expect(dnsMs).toBeGreaterThanOrEqual(0);
      expect(tcpMs).toBeGreaterThan(0);
      expect(logText(context)).toContain('connected to');
      const chunks = await socket.setEncoding('utf8').toArray();
      expect(chunks.join('')).toBe('hello');
    });

    it('connects to a literal', async () => {
      const server = await opened(listenTcp(() => {}, host));
      const target = { hostname: host, port: server.port, ipFamily };
      expect(connected(await connectTcp(target, makeContext())).address).toBe(host);
    });

    it('reports a refused connection with its time', async () => {
      const { port } = await opened(refusingPort(host));
      const outcome = failed(
        await connectTcp({ hostname: host, port, ipFamily }, makeContext({ deadlineInMs: 5000 })),
      );
      expect(outcome.failure.code).toBe('CONNECT_REFUSED');
      expect(outcome.failure.message).toContain(`${host.replace('::1', '[::1]')}:${port}`);
      expect(outcome.address).toBe(host);
      expect(outcome.tcpMs).toBeGreaterThan(0);
      expect(outcome.tcpMs).toBeLessThan(5000);
    });

    it('reports silence as a timeout at the deadline', async () => {
      const { port } = await opened(blackHole(host));
      const clock = new FakeClock();
      const context = makeContext({ clock, deadlineInMs: 100 });
      const pending = connectTcp({ hostname: host, port, ipFamily }, context);
      await clock.advance(100);
      const outcome = failed(await pending);
      expect(outcome.failure.code).toBe('CONNECT_TIMEOUT');
      expect(outcome.tcpMs).toBe(100);
    });

    it('ends when the run is cancelled, and leaves no socket', async () => {
      const { port } = await opened(blackHole(host));
      const stop = new AbortController();
      const before = openSockets();
      const pending = connectTcp(
        { hostname: host, port, ipFamily },
        makeContext({ signal: stop.signal }),
      );
      await nextTurn();
      expect(openSockets()).toBeGreaterThan(before);
      stop.abort();
      expect(failed(await pending).failure.code).toBe('CANCELLED');
      await nextTurn();
      expect(openSockets()).toBe(before);
    });
  });

  it('accepts an IPv6 literal in brackets', async () => {
    const server = await opened(listenTcp(() => {}, '::1'));
    const target = { hostname: '[::1]', port: server.port, ipFamily: 'IPv6' } as const;
    expect(connected(await connectTcp(target, makeContext())).address).toBe('::1');
  });

  it('does not start if the run is already cancelled', async () => {
    const server = await opened(listenTcp(() => {}));
    const target = { hostname: '127.0.0.1', port: server.port, ipFamily: 'IPv4' } as const;
    const outcome = await connectTcp(target, makeContext({ signal: AbortSignal.abort() }));
    expect(failed(outcome).failure.code).toBe('CANCELLED');
    expect(server.accepted).toBe(0);
  });

  it('survives a socket error without another listener', async () => {
    let accept: (socket: Socket) => void = () => {};
    const accepted = new Promise<Socket>((resolve) => {
      accept = resolve;
    });
    const server = await opened(listenTcp((socket) => accept(socket)));
    const target = { hostname: '127.0.0.1', port: server.port, ipFamily: 'IPv4' } as const;
    const { socket } = connected(await connectTcp(target, makeContext()));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    (await accepted).resetAndDestroy();
    await closed;
    expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
  });

  describe('with several addresses', () => {
    it('goes on to the next when one refuses, and logs it', async () => {
      const { port } = await opened(refusingPort());
      const server = await opened(listenTcp(() => {}, '127.0.0.2', port));
      const resolver = staticResolver({ 'many.test': ['127.0.0.1', '127.0.0.2', '127.0.0.3'] });
      const context = makeContext({ resolver });
      const target = { hostname: 'many.test', port: server.port, ipFamily: 'IPv4' } as const;
      expect(connected(await connectTcp(target, context)).address).toBe('127.0.0.2');
      expect(logText(context)).toMatch(/127\.0\.0\.1\) refused .*trying the next address/);
    });

    it('leaves time for the others if one is silent', async () => {
      const hole = await opened(blackHole('127.0.0.1'));
      await opened(listenTcp(() => {}, '127.0.0.2', hole.port));
      const resolver = staticResolver({ 'many.test': ['127.0.0.1', '127.0.0.2'] });
      const clock = new FakeClock();
      const context = makeContext({ clock, resolver, deadlineInMs: 10_000 });
      const target = { hostname: 'many.test', port: hole.port, ipFamily: 'IPv4' } as const;
      const pending = connectTcp(target, context);
      await clock.advance(5000);
      const outcome = connected(await pending);
      expect(outcome.address).toBe('127.0.0.2');
      expect(outcome.tcpMs).toBe(5000);
      expect(logText(context)).toContain('127.0.0.1) did not answer within 5000 ms');
      expect(clock.pendingTimers).toBe(0);
    });

    it.each([
      // Multicast: the kernel refuses to connect there without sending anything.
      [['127.0.0.1', '224.0.0.1'], 'CONNECT_UNREACHABLE', '224.0.0.1'],
      [['224.0.0.1', '127.0.0.1'], 'CONNECT_REFUSED', '127.0.0.1'],
    ])('has the failure of the last of %j', async (addresses, code, last) => {
      const { port } = await opened(refusingPort());
      const resolver = staticResolver({ 'many.test': addresses });
      const target = { hostname: 'many.test', port, ipFamily: 'IPv4' } as const;
      const outcome = failed(await connectTcp(target, makeContext({ resolver })));
      expect(outcome.failure.code).toBe(code);
      expect(outcome.address).toBe(last);
      expect(outcome.failure.message).toContain(`many.test:${port} (${last})`);
    });

    it('tries at most eight, and logs that', async () => {
      const addresses = Array.from({ length: 9 }, (_, index) => `127.0.0.${index + 1}`);
      const { port } = await opened(refusingPort());
      const server = await opened(listenTcp(() => {}, '127.0.0.9', port));
      const context = makeContext({ resolver: staticResolver({ 'many.test': addresses }) });
      const target = { hostname: 'many.test', port: server.port, ipFamily: 'IPv4' } as const;
      expect(failed(await connectTcp(target, context)).address).toBe('127.0.0.8');
      expect(logText(context)).toContain('only the first 8 of 9 addresses');
    });
  });

  describe('with TARGET_DENY', () => {
    const loopback = { text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 };
    const loopback6 = { text: '::1/128', address: '::1', prefixBits: 128 };
    const guard = denyNetworks([loopback, loopback6]);

    it.each([
      ['127.0.0.1', 'IPv4'],
      ['localhost', 'IPv4'],
      ['localhost', 'IPv6'],
      ['[::1]', 'IPv6'],
      // Other ways to write the same machine.
      ['0.0.0.0', 'IPv4'],
      ['::', 'IPv6'],
      ['::ffff:127.0.0.1', 'IPv6'],
      ['::ffff:0:0', 'IPv6'],
    ] as const)('does not connect to %s over %s', async (hostname, ipFamily) => {
      const server = await opened(listenTcp(() => {}, '::'));
      const target = { hostname, port: server.port, ipFamily };
      const outcome = failed(await connectTcp(target, makeContext({ guard })));
      expect(outcome.failure.code).toBe('ADDRESS_DENIED');
      expect(outcome.failure.message).toMatch(/is in (127\.0\.0\.0\/8|::1\/128)/);
      expect(server.accepted).toBe(0);
    });

    it('leaves denied addresses out if there are others', async () => {
      const denied = await opened(listenTcp(() => {}, '127.0.0.1'));
      await opened(listenTcp(() => {}, '127.0.0.2', denied.port));
      const first = { text: '127.0.0.1/32', address: '127.0.0.1', prefixBits: 32 };
      const resolver = staticResolver({ 'many.test': ['127.0.0.1', '127.0.0.2'] });
      const context = makeContext({ resolver, guard: denyNetworks([first]) });
      const target = { hostname: 'many.test', port: denied.port, ipFamily: 'IPv4' } as const;
      expect(connected(await connectTcp(target, context)).address).toBe('127.0.0.2');
      expect(denied.accepted).toBe(0);
      expect(logText(context)).toContain('127.0.0.1 is in 127.0.0.1/32');
    });
  });

  describe('when the name cannot be resolved', () => {
    it('returns the failure, with all its time in the dns phase', async () => {
      const target = { hostname: 'nowhere.invalid', port: 80, ipFamily: 'IPv4' } as const;
      const outcome = failed(await connectTcp(target, makeContext()));
      expect(outcome).toMatchObject({ failure: { code: 'DNS_NXDOMAIN' }, address: null, tcpMs: 0 });
      expect(outcome.dnsMs).toBeGreaterThanOrEqual(0);
    });

    it('reaches an IPv6 address by IPv6, whatever the default is', async () => {
      const server = await listenTcp((socket) => void socket.end(), '::1');
      const target = { hostname: '[::1]', port: server.port, ipFamily: 'IPv4' } as const;
      const outcome = await connectTcp(target, makeContext());
      expect(outcome).toMatchObject({ ok: true, address: '::1', ipFamily: 'IPv6' });
      if (outcome.ok) outcome.socket.destroy();
      await server.close();
    });

    it('reports that the name has no address of the family', async () => {
      const resolver = staticResolver({ 'six.test': ['::1'] });
      const target = { hostname: 'six.test', port: 80, ipFamily: 'IPv4' } as const;
      const outcome = failed(await connectTcp(target, makeContext({ resolver })));
      expect(outcome.failure.code).toBe('DNS_NO_ADDRESS');
    });
  });
});

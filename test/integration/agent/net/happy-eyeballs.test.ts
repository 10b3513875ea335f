import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type RaceEnd, raceFamilies } from '../../../../src/agent/net/happy-eyeballs.ts';
import type { Resolution, Resolver } from '../../../../src/agent/net/resolver.ts';
import type { ErrorCode } from '../../../../src/model/result/error-codes.ts';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { logText, makeContext, staticResolver } from '../../../support/agent/probe-context.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { onOnePort } from '../../../support/network/on-one-port.ts';
import {
  blackHole,
  type Listening,
  listenTcp,
  refusingPort,
} from '../../../support/servers/tcp-servers.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function opened<Target extends Listening>(target: Promise<Target>): Promise<Target> {
  const listening = await target;
  cleanUps.push(() => listening.close());
  return listening;
}

const NAME = 'dual.test';
const dual = staticResolver({ [NAME]: ['127.0.0.1', '::1'] });

function won(end: RaceEnd) {
  if (!end.ok) throw new Error(end.failure.message);
  cleanUps.push(() => end.opened.socket.destroy());
  return end;
}

function lost(end: RaceEnd) {
  if (end.ok) throw new Error(`connected to ${end.address}`);
  return end;
}

/** The connections to a port that are not answered yet (state SYN_SENT, 2). */
function connecting(port: number): number {
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8').split('\n'),
  );
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const isOne = ([, , remote, state]: readonly string[]): boolean =>
    state === '02' && remote?.endsWith(end) === true;
  return lines.filter((line) => isOne(line.trim().split(/\s+/))).length;
}

/** Both with the same port, and closed after the test. */
async function onBoth<Six extends Listening, Four extends Listening>(
  openSix: () => Promise<Six>,
  openFour: (port: number) => Promise<Four>,
): Promise<{ readonly six: Six; readonly four: Four; readonly port: number }> {
  const [six, four] = await onOnePort(openSix, openFour);
  cleanUps.push(() => Promise.all([six.close(), four.close()]));
  return { six, four, port: six.port };
}

function failure(code: ErrorCode): Resolution {
  return { ok: false, failure: { code, message: `${NAME}: ${code}` } };
}

/** Resolves each family when the test says so. */
function heldResolver() {
  const four = held<Resolution>();
  const six = held<Resolution>();
  const resolver: Resolver = {
    resolve: (_hostname, family) => (family === 4 ? four : six).promise,
  };
  return { resolver, ipv4: four.resolve, ipv6: six.resolve };
}

function held<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}

const IPV4: Resolution = { ok: true, addresses: ['127.0.0.1'] };
const IPV6: Resolution = { ok: true, addresses: ['::1'] };

describe('a race of the address families', () => {
  it('is won by IPv6 where both answer, and does not try IPv4', async () => {
    const { six, four } = await onBoth(
      () => listenTcp(() => {}, '::1'),
      (port) => listenTcp(() => {}, '127.0.0.1', port),
    );
    // Its time does not pass: no delay ends, however slow the machine is.
    const context = makeContext({ resolver: dual, clock: new FakeClock() });
    const end = won(await raceFamilies({ hostname: NAME, port: six.port }, context));
    expect(end).toMatchObject({ address: '::1', ipFamily: 'IPv6' });
    expect(end.families).toMatchObject([{ ipFamily: 'IPv6', outcome: 'passed' }]);
    expect(four.accepted).toBe(0);
  });

  it('goes on with IPv4 at once when IPv6 is refused, and reports that', async () => {
    const { port } = await onBoth(
      () => refusingPort('::1'),
      (same) => listenTcp(() => {}, '127.0.0.1', same),
    );
    // Its time does not pass: no delay is waited for.
    const context = makeContext({ resolver: dual, clock: new FakeClock() });
    const end = won(await raceFamilies({ hostname: NAME, port }, context));
    expect(end.address).toBe('127.0.0.1');
    expect(end.families).toMatchObject([
      { ipFamily: 'IPv4', outcome: 'passed', requestErrorCode: null },
      { ipFamily: 'IPv6', address: '::1', outcome: 'failed', requestErrorCode: 'CONNECT_REFUSED' },
    ]);
    expect(logText(context)).toContain('IPv6 does not work for dual.test, IPv4 does: ');
  });

  it('tries IPv4 beside a silent IPv6 after 250 ms, and leaves nothing open', async () => {
    const { port } = await onBoth(
      () => blackHole('::1'),
      (same) => listenTcp(() => {}, '127.0.0.1', same),
    );
    const clock = new FakeClock();
    const context = makeContext({ resolver: dual, clock });
    const pending = raceFamilies({ hostname: NAME, port }, context);
    await clock.advance(249);
    await eventually(() => connecting(port) === 1);
    await clock.advance(1);
    const end = won(await pending);
    expect(end.families).toMatchObject([
      { ipFamily: 'IPv4', outcome: 'passed' },
      {
        ipFamily: 'IPv6',
        outcome: 'unanswered',
        requestErrorCode: null,
        requestError: expect.stringContaining('had not answered after 250 ms, when IPv4 was'),
      },
    ]);
    // IPv6 may still work and answer later.
    expect(logText(context)).toContain('IPv6 was slower for dual.test than IPv4: ');
    expect(logText(context)).not.toContain('does not work');
    expect(clock.pendingTimers).toBe(0);
    await eventually(() => connecting(port) === 0);
  });

  it('does not give up IPv6 when it tries IPv4', async () => {
    const { six, port } = await onBoth(
      () => blackHole('::1'),
      (same) => blackHole('127.0.0.1', same),
    );
    const clock = new FakeClock();
    const context = makeContext({ resolver: dual, clock, deadlineInMs: 30_000 });
    const pending = raceFamilies({ hostname: NAME, port }, context);
    await clock.advance(250);
    await eventually(() => connecting(port) === 2);
    // The kernel repeats the SYN after a second, and then it is answered.
    six.accept();
    expect(won(await pending).ipFamily).toBe('IPv6');
    await eventually(() => connecting(port) === 0);
  });

  it('tries the addresses of both families alternately', async () => {
    const { port } = await onBoth(
      () => refusingPort('::1'),
      (same) => listenTcp(() => {}, '127.0.0.3', same),
    );
    const resolver = staticResolver({
      [NAME]: ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1', '::ffff:127.0.0.9'],
    });
    const context = makeContext({ resolver, clock: new FakeClock() });
    expect(won(await raceFamilies({ hostname: NAME, port }, context)).address).toBe('127.0.0.3');
    // The last line names which family does not work, with its error.
    const [attempts = ''] = logText(context).split('IPv6 does not work');
    const tried = [...attempts.matchAll(/\(([^ ]+)\) refused/g)].map(([, each]) => each);
    expect(tried).toEqual(['::1', '127.0.0.1', '::ffff:127.0.0.9', '127.0.0.2']);
  });

  it('waits 50 ms for the IPv6 addresses of a name whose IPv4 address is known', async () => {
    const { six, four } = await onBoth(
      () => listenTcp(() => {}, '::1'),
      (port) => listenTcp(() => {}, '127.0.0.1', port),
    );
    const clock = new FakeClock();
    const names = heldResolver();
    const context = makeContext({ resolver: names.resolver, clock });
    const pending = raceFamilies({ hostname: NAME, port: six.port }, context);
    names.ipv4(IPV4);
    await clock.advance(49);
    names.ipv6(IPV6);
    expect(won(await pending)).toMatchObject({ ipFamily: 'IPv6', dnsMs: 49 });
    expect(four.accepted).toBe(0);
  });

  it('begins with IPv4 where the IPv6 addresses take longer', async () => {
    const four = await opened(listenTcp(() => {}, '127.0.0.1'));
    const clock = new FakeClock();
    const names = heldResolver();
    const context = makeContext({ resolver: names.resolver, clock });
    const pending = raceFamilies({ hostname: NAME, port: four.port }, context);
    names.ipv4(IPV4);
    await clock.advance(50);
    const end = won(await pending);
    expect(end).toMatchObject({ ipFamily: 'IPv4', dnsMs: 50 });
    expect(end.families).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
    names.ipv6(IPV6);
  });

  it('reports a family whose addresses could not be found, but not one that the name lacks', async () => {
    const four = await opened(listenTcp(() => {}, '127.0.0.1'));
    for (const [code, families] of [
      ['DNS_SERVFAIL', ['passed', 'failed']],
      ['DNS_NO_ADDRESS', ['passed']],
    ] as const) {
      const names = heldResolver();
      names.ipv6(failure(code));
      names.ipv4(IPV4);
      const context = makeContext({ resolver: names.resolver });
      const end = won(await raceFamilies({ hostname: NAME, port: four.port }, context));
      expect(end.families.map(({ outcome }) => outcome)).toEqual(families);
    }
  });

  it('that neither family wins has the failure of IPv4, and a message about both', async () => {
    const { port } = await opened(refusingPort('127.0.0.1'));
    const context = makeContext({ resolver: dual });
    const end = lost(await raceFamilies({ hostname: NAME, port }, context));
    expect(end.failure.code).toBe('CONNECT_REFUSED');
    expect(end.failure.message).toMatch(/\(127\.0\.0\.1\) refused.*; .*\(::1\) refused/);
    expect(end.families).toMatchObject([
      { ipFamily: 'IPv6', outcome: 'failed' },
      { ipFamily: 'IPv4', outcome: 'failed' },
    ]);
  });

  it.each([
    ['neither family exists', 'DNS_NO_ADDRESS', 'DNS_NO_ADDRESS', 'DNS_NO_ADDRESS'],
    ['the name does not exist', 'DNS_NXDOMAIN', 'DNS_NXDOMAIN', 'DNS_NXDOMAIN'],
    [
      'one does not exist and the other is not known',
      'DNS_NO_ADDRESS',
      'DNS_TIMEOUT',
      'DNS_TIMEOUT',
    ],
  ] as const)('fails where %s', async (_what, four, six, code) => {
    const names = heldResolver();
    names.ipv4(failure(four));
    names.ipv6(failure(six));
    const context = makeContext({ resolver: names.resolver });
    const end = lost(await raceFamilies({ hostname: NAME, port: 80 }, context));
    expect(end).toMatchObject({ failure: { code }, address: null });
  });

  it('ends at once when it is cancelled', async () => {
    const hole = await opened(blackHole('::1'));
    const stopping = new AbortController();
    const clock = new FakeClock();
    const context = makeContext({ resolver: dual, clock, signal: stopping.signal });
    const pending = raceFamilies({ hostname: NAME, port: hole.port }, context);
    await clock.advance(10);
    stopping.abort();
    expect(lost(await pending).failure.code).toBe('CANCELLED');
    expect(clock.pendingTimers).toBe(0);
    await eventually(() => connecting(hole.port) === 0);
  });

  it('does not try what TARGET_DENY blocks', async () => {
    const { six } = await onBoth(
      () => listenTcp(() => {}, '::1'),
      (port) => listenTcp(() => {}, '127.0.0.1', port),
    );
    const guard = denyNetworks([{ text: '::1/128', address: '::1', prefixBits: 128 }]);
    const context = makeContext({ resolver: dual, guard });
    const end = won(await raceFamilies({ hostname: NAME, port: six.port }, context));
    expect(end.ipFamily).toBe('IPv4');
    expect(end.families).toHaveLength(1);
    expect(six.accepted).toBe(0);
  });
});

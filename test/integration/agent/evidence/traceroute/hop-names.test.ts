import { afterEach, describe, expect, it } from 'vitest';
import { withNames } from '../../../../../src/agent/evidence/traceroute/hop-names.ts';
import type { Traceroute } from '../../../../../src/model/result/traceroute.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  type DnsResponder,
  type Handler,
  startDnsResponder,
} from '../../../../support/servers/dns-responder.ts';
import { answerTo, wireName } from '../../../../support/servers/dns-wire.ts';

const PTR = 12;
const CNAME = 5;

describe('the names of hops', () => {
  let responder: DnsResponder | null = null;
  afterEach(async () => {
    await responder?.close();
    responder = null;
  });

  async function answerWith(udp: Handler): Promise<DnsResponder> {
    responder = await startDnsResponder({ udp });
    return responder;
  }

  function options(server: DnsResponder, clock = systemClock): Parameters<typeof withNames>[1] {
    const { address, port } = server;
    return {
      clock,
      signal: new AbortController().signal,
      deadlineMs: clock.monotonicMs() + 10_000,
      nameServers: () => ({ servers: [{ address, port }], timeoutMs: 5000, attempts: 2 }),
    };
  }

  it('are those of the name servers, with one query per address', async () => {
    const server = await answerWith((asked, channel) => {
      const name = asked.name.startsWith('1.') ? 'gateway.example' : 'core-2.net.example';
      channel.send(answerTo(asked, { answers: [{ type: 'PTR', name: asked.name, data: name }] }));
    });
    const addresses = ['10.0.0.1', null, 'fd00::2', '10.0.0.1'];
    const named = await withNames(wayOf(addresses), options(server));
    const hosts = ['gateway.example', null, 'core-2.net.example', 'gateway.example'];
    expect(named.hops.map(({ host }) => host)).toEqual(hosts);
    expect(server.asked.map(({ name, type }) => ({ name, type }))).toEqual([
      { name: '1.0.0.10.in-addr.arpa', type: PTR },
      { name: `2.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`, type: PTR },
    ]);
  });

  it('are found through an alias', async () => {
    const server = await answerWith((asked, channel) => {
      const alias = 'one.0.0.10.in-addr.arpa';
      const answers = [
        {
          name: asked.name,
          type: CNAME,
          rdata: wireName('one', '0', '0', '10', 'in-addr', 'arpa'),
        },
        { type: 'PTR', name: alias, data: 'gateway.example' } as const,
      ];
      channel.send(answerTo(asked, { answers }));
    });
    const named = await withNames(wayOf(['10.0.0.1']), options(server));
    expect(named.hops[0]?.host).toBe('gateway.example');
  });

  it.for<[string, readonly Buffer[], number]>([
    ['none', [], 0],
    ['an unknown one', [], 3],
    ['one with control characters', [wireName('gate\u001b[31m', 'example')], 0],
    ['one with a space', [wireName('a b', 'example')], 0],
    ['one with a dot inside a label', [wireName('a.b', 'example')], 0],
    ['the root', [wireName()], 0],
  ])('are null if the answer is %s', async ([, names, rcode]) => {
    const server = await answerWith((asked, channel) => {
      const answers = names.map((rdata) => ({ name: asked.name, type: PTR, rdata }));
      channel.send(answerTo(asked, { rcode, answers }));
    });
    const named = await withNames(wayOf(['10.0.0.1']), options(server));
    expect(named.hops).toEqual(wayOf(['10.0.0.1']).hops);
  });

  it('are waited for one second at most in total', async () => {
    const server = await answerWith((asked, channel) => {
      if (!asked.name.startsWith('1.')) return;
      const name = 'gateway.example';
      channel.send(answerTo(asked, { answers: [{ type: 'PTR', name: asked.name, data: name }] }));
    });
    const clock = new FakeClock();
    let isDone = false;
    const naming = withNames(wayOf(['10.0.0.1', '10.0.0.2', '10.0.0.3']), options(server, clock));
    void naming.then(() => {
      isDone = true;
    });
    await server.questions(3);
    await clock.advance(999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    const named = await naming;
    expect(named.hops.slice(1).map(({ host }) => host)).toEqual([null, null]);
    expect(clock.pendingTimers).toBe(0);
  });
});

function wayOf(addresses: readonly (string | null)[]): Traceroute {
  const times = { lastMs: 1, avgMs: 1, bestMs: 1, worstMs: 1, stdDevMs: 0 };
  const hops = addresses.map((address, index) => ({
    hop: index + 1,
    address,
    host: null,
    sent: 3,
    received: 3,
    lossPercent: 0,
    ...times,
  }));
  return {
    hostname: 'db.example',
    resolvedIp: '10.0.9.9',
    hops,
    destinationReached: true,
    truncationReason: null,
  };
}

import { afterEach, describe, expect, it } from 'vitest';
import type { NameServers } from '../../../../../src/agent/net/dns/system/name-servers.ts';
import type { Resolver } from '../../../../../src/agent/net/resolver.ts';
import { probeDns } from '../../../../../src/agent/probes/dns/probe.ts';
import { isNetworkError } from '../../../../../src/agent/probes/probe.ts';
import { type DnsRequest, dnsRequestSchema } from '../../../../../src/model/check/request/dns.ts';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import {
  type ContextOptions,
  logText,
  makeContext,
  NO_ROUTE,
  staticResolver,
} from '../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  type DnsResponder,
  type Handler,
  startDnsResponder,
} from '../../../../support/servers/dns-responder.ts';
import {
  answerTo,
  serviceBinding,
  TRUNCATED_RESPONSE,
  wireName,
} from '../../../../support/servers/dns-wire.ts';
import { servingZone, type Zone } from '../../../../support/servers/dns-zone.ts';

let responders: DnsResponder[] = [];
afterEach(async () => {
  await Promise.all(responders.map((responder) => responder.close()));
  responders = [];
});

const name = 'example.com';
const ZONE: Zone = {
  'example.com 1': [{ name, type: 'A', ttl: 300, data: '192.0.2.1' }],
  'example.com 28': [{ name, type: 'AAAA', ttl: 300, data: '2001:db8::1' }],
  'example.com 5': [{ name, type: 'CNAME', ttl: 300, data: 'www.example.com' }],
  'example.com 15': [
    { name, type: 'MX', ttl: 300, data: { preference: 10, exchange: 'mail.example.com' } },
  ],
  'example.com 16': [{ name, type: 'TXT', ttl: 300, data: ['v=spf1 ', '-all'] }],
  'example.com 6': [
    {
      name,
      type: 'SOA',
      ttl: 300,
      data: {
        mname: 'ns1.example.com',
        rname: 'hostmaster.example.com',
        serial: 2026010101,
        refresh: 7200,
        retry: 3600,
        expire: 1209600,
        minimum: 300,
      },
    },
  ],
  'example.com 2': [{ name, type: 'NS', ttl: 300, data: 'ns1.example.com' }],
  'example.com 33': [
    {
      name,
      type: 'SRV',
      ttl: 300,
      data: { priority: 10, weight: 20, port: 5060, target: 'sip.example.com' },
    },
  ],
  'example.com 257': [
    { name, type: 'CAA', ttl: 300, data: { flags: 0, tag: 'issue', value: 'ca.example' } },
  ],
  'example.com 12': [{ name, type: 'PTR', ttl: 300, data: 'host.example.com' }],
  'example.com 65': [
    {
      name,
      type: 65,
      rdata: serviceBinding(1, wireName(), [[1, Buffer.from('\x02h3\x02h2')]]),
    },
  ],
};

async function serve(udp: Handler, address = '127.0.0.1', port = 0): Promise<DnsResponder> {
  const responder = await startDnsResponder({ address, port, udp, tcp: udp });
  responders.push(responder);
  return responder;
}

interface Asked extends Partial<DnsRequest> {
  readonly system?: NameServers;
}

/** Queries `example.com A` by default, and the system's servers only if `system` is given. */
async function probe({ system, ...request }: Asked, options: ContextOptions = {}) {
  const context = makeContext(options);
  const outcome = await probeDns(dnsRequestSchema.parse({ query: name, ...request }), context, {
    ...NO_ROUTE,
    nameServers() {
      if (system === undefined) throw new Error('the system was not to be asked');
      return system;
    },
  });
  return { ...outcome, log: logText(context) };
}

describe('the record types', () => {
  it.each([
    ['A', '192.0.2.1'],
    ['AAAA', '2001:db8::1'],
    ['CNAME', 'www.example.com.'],
    ['MX', '10 mail.example.com.'],
    ['TXT', 'v=spf1 -all'],
    ['SOA', 'ns1.example.com. hostmaster.example.com. 2026010101 7200 3600 1209600 300'],
    ['NS', 'ns1.example.com.'],
    ['SRV', '10 20 5060 sip.example.com.'],
    ['CAA', '0 issue "ca.example"'],
    ['PTR', 'host.example.com.'],
    ['HTTPS', '1 . alpn="h3,h2"'],
  ] as const)('%s', async (recordType, data) => {
    const { address, port } = await serve(servingZone(ZONE));
    const { response, failure } = await probe({ nameServer: address, port, recordType });
    expect(failure).toBeNull();
    expect(response).toMatchObject({
      responseCode: 'NOERROR',
      answer: {
        Status: 0,
        RD: true,
        RA: true,
        Question: [{ name: 'example.com.', type: recordType }],
        Answer: [{ name: 'example.com.', type: recordType, TTL: 300, data }],
      },
      nameServer: { host: '127.0.0.1', port, protocol: 'UDP' },
    });
    expect(response?.text).toContain(`example.com.\t\t300\tIN\t${recordType}\t`);
    expect(response?.text).toContain(`;; SERVER: 127.0.0.1#${port}(127.0.0.1) (UDP)`);
  });
});

describe('what a probe returns', () => {
  it('has the request, the times and a log', async () => {
    const { address, port } = await serve(servingZone(ZONE));
    const outcome = await probe({ nameServer: address, port });
    expect(outcome.request).toEqual({
      query: 'example.com',
      recordType: 'A',
      nameServer: '127.0.0.1',
      port,
      protocol: 'UDP',
    });
    expect(outcome.responseTimeMs).toBeGreaterThan(0);
    expect(outcome.timingPhases).toEqual({ total: outcome.responseTimeMs });
    expect(outcome.log).toContain(`Question A example.com to 127.0.0.1:${port} over UDP: NOERROR`);
  });

  it.each([
    [3, 'NXDOMAIN'],
    [2, 'SERVFAIL'],
    [5, 'REFUSED'],
    [4, 'NOTIMP'],
    [1, 'FORMERR'],
    [16, 'BADVERS'],
    [12, 'RCODE12'],
  ])('accepts code %d, %s, as a response', async (rcode, responseCode) => {
    const { address, port } = await serve((asked, channel) =>
      channel.send(answerTo(asked, { rcode })),
    );
    const { response, failure } = await probe({ nameServer: address, port });
    expect(failure).toBeNull();
    expect(response).toMatchObject({ responseCode, answer: { Status: rcode, Answer: [] } });
  });

  it('is asked only over TCP if the request says so', async () => {
    const { address, port, asked } = await serve(servingZone(ZONE));
    const { response } = await probe({ nameServer: address, port, protocol: 'TCP' });
    expect(response?.nameServer.protocol).toBe('TCP');
    expect(asked.map(({ protocol }) => protocol)).toEqual(['TCP']);
  });

  it('is the answer over TCP if UDP was too small', async () => {
    const { address, port } = await serve((asked, channel) =>
      asked.protocol === 'UDP'
        ? channel.send(answerTo(asked, { flags: TRUNCATED_RESPONSE }))
        : servingZone(ZONE)(asked, channel),
    );
    const { response, log } = await probe({ nameServer: address, port });
    expect(response).toMatchObject({
      answer: { TC: false, Answer: [{ data: '192.0.2.1' }] },
      nameServer: { protocol: 'TCP' },
    });
    expect(log).toContain('truncated; asking again over TCP');
  });

  it('asks for the AD bit, so that the answer can have it', async () => {
    const { address, port, asked } = await serve(servingZone(ZONE));
    await probe({ nameServer: address, port });
    expect(asked[0]?.authenticData).toBe(true);
  });

  it('is a network error if nothing listens', async () => {
    const { address, port, close } = await serve(servingZone(ZONE));
    await close();
    responders = [];
    const outcome = await probe({ nameServer: address, port });
    expect(outcome.failure?.code).toBe('DNS_UNREACHABLE');
    expect(isNetworkError(outcome)).toBe(true);
  });

  it('has the time up to its failure', async () => {
    const clock = new FakeClock();
    const { address, port, questions } = await serve(() => {});
    const outcome = probe({ nameServer: address, port }, { clock, deadlineInMs: 400 });
    await questions(1);
    await clock.advance(400);
    expect(await outcome).toMatchObject({
      response: null,
      failure: { code: 'DNS_TIMEOUT' },
      timingPhases: { total: 400 },
      responseTimeMs: 400,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is cancelled with the run', async () => {
    const controller = new AbortController();
    const { address, port, questions } = await serve(() => {});
    const outcome = probe({ nameServer: address, port }, { signal: controller.signal });
    await questions(1);
    controller.abort();
    expect((await outcome).failure?.code).toBe('CANCELLED');
  });
});

describe('the name server of the request', () => {
  const resolver = staticResolver({
    'ns.test': ['127.0.0.1'],
    'six.test': ['::1'],
    'two.test': ['127.0.0.9', '127.0.0.1'],
  });

  it('may be a name, whose look-up is logged but not timed', async () => {
    const { port } = await serve(servingZone(ZONE));
    const { response, log } = await probe({ nameServer: 'ns.test', port }, { resolver });
    expect(response?.nameServer).toEqual({ host: 'ns.test', port, protocol: 'UDP' });
    expect(response?.text).toContain(`;; SERVER: 127.0.0.1#${port}(ns.test) (UDP)`);
    expect(log).toMatch(/The name server ns\.test is 127\.0\.0\.1 \(looked up in \d/);
  });

  it('is timed without the look-up of its name', async () => {
    const clock = new FakeClock();
    const { port } = await serve(servingZone(ZONE));
    const slow: Resolver = {
      async resolve(hostname, family, how) {
        await clock.advance(300);
        return resolver.resolve(hostname, family, how);
      },
    };
    const found = await probe({ nameServer: 'ns.test', port }, { clock, resolver: slow });
    expect(found.responseTimeMs).toBe(0);
    expect(found.log).toContain('(looked up in 300.000 ms)');
    const missing = await probe({ nameServer: 'nope.test', port }, { clock, resolver: slow });
    expect(missing.responseTimeMs).toBe(300);
  });

  it('may have only an IPv6 address', async () => {
    const { port } = await serve(servingZone(ZONE), '::1');
    const { response } = await probe({ nameServer: 'six.test', port }, { resolver });
    expect(response?.responseCode).toBe('NOERROR');
  });

  it('may be an IPv6 address in brackets', async () => {
    const { port } = await serve(servingZone(ZONE), '::1');
    const { response } = await probe({ nameServer: '[::1]', port });
    expect(response?.text).toContain(`;; SERVER: ::1#${port}([::1]) (UDP)`);
  });

  it('is asked at its next address if the first cannot be reached', async () => {
    const { port } = await serve(servingZone(ZONE));
    const { response, log } = await probe({ nameServer: 'two.test', port }, { resolver });
    expect(response?.text).toContain(`;; SERVER: 127.0.0.1#${port}(two.test)`);
    expect(log).toContain(`next address, 127.0.0.1:${port}`);
  });

  it('that does not exist is a failure that names it', async () => {
    const { failure } = await probe({ nameServer: 'nope.invalid' }, { resolver });
    expect(failure).toEqual({
      code: 'DNS_NXDOMAIN',
      message: 'The name server nope.invalid has no known address: nope.invalid does not exist',
    });
  });

  it('is not asked if TARGET_DENY denies it (trust model SN3)', async () => {
    const { port, asked } = await serve(servingZone(ZONE));
    const guard = denyNetworks([{ text: '127.0.0.0/8', address: '127.0.0.0', prefixBits: 8 }]);
    for (const nameServer of ['ns.test', '127.0.0.1', '0.0.0.0']) {
      const { failure } = await probe({ nameServer, port }, { resolver, guard });
      expect(failure?.code).toBe('ADDRESS_DENIED');
      expect(failure?.message).toContain('127.0.0.0/8');
    }
    expect(asked).toEqual([]);
  });
});

describe("the system's name servers", () => {
  async function system(...handlers: readonly Handler[]): Promise<NameServers> {
    for (const [index, handler] of handlers.entries()) {
      await serve(handler, `127.0.0.${index + 1}`, responders[0]?.port ?? 0);
    }
    const [first, ...others] = responders;
    if (first === undefined) throw new Error('no server');
    return { servers: [first, ...others], timeoutMs: 1000, attempts: 2 };
  }
  const code =
    (rcode: number): Handler =>
    (asked, channel) =>
      channel.send(answerTo(asked, { rcode }));

  it('are asked in their order, for the name as it is given', async () => {
    const outcome = await probe({ system: await system(code(2), servingZone(ZONE)) });
    expect(outcome.response).toMatchObject({
      responseCode: 'NOERROR',
      nameServer: { host: '127.0.0.2' },
    });
    expect(responders.map(({ asked }) => asked.map((question) => question.name))).toEqual([
      ['example.com'],
      ['example.com'],
    ]);
  });

  it('return a code as the response if none has an answer', async () => {
    const { response } = await probe({ system: await system(code(5), code(2)) });
    expect(response).toMatchObject({ responseCode: 'REFUSED', nameServer: { host: '127.0.0.1' } });
  });

  it('cost the time of those that are silent', async () => {
    const clock = new FakeClock();
    const servers = await system(() => {}, servingZone(ZONE));
    const outcome = probe({ system: servers }, { clock });
    await responders[0]?.questions(1);
    await clock.advance(1000);
    expect(await outcome).toMatchObject({
      response: { responseCode: 'NOERROR' },
      responseTimeMs: 1000,
    });
  });
});

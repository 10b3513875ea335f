import { describe, expect, it, onTestFinished } from 'vitest';
import { probeDns } from '../../../../../src/agent/probes/dns/probe.ts';
import { type DnsRequest, dnsRequestSchema } from '../../../../../src/model/check/request/dns.ts';
import { denyNetworks } from '../../../../../src/runtime/net/address-guard.ts';
import {
  type ContextOptions,
  logText,
  makeContext,
  NO_ROUTE,
  staticResolver,
} from '../../../../support/agent/probe-context.ts';
import {
  type DnsResponder,
  type Handler,
  startDnsResponder,
} from '../../../../support/servers/dns-responder.ts';
import { answerTo } from '../../../../support/servers/dns-wire.ts';
import { servingZone } from '../../../../support/servers/dns-zone.ts';

const name = 'example.com';
const resolver = staticResolver({
  'ns1.example.com': ['127.0.0.1'],
  'ns2.example.com': ['127.0.0.2'],
});

/** Has this serial, and names ns1 and ns2 as the zone's name servers. */
const serving = (serial: number): Handler =>
  servingZone({
    'example.com 6': [
      {
        name,
        type: 'SOA',
        data: {
          mname: 'ns1.example.com',
          rname: 'root.example.com',
          serial,
          refresh: 1,
          retry: 1,
          expire: 1,
          minimum: 1,
        },
      },
    ],
    'example.com 2': [
      { name, type: 'NS', data: 'ns2.example.com' },
      { name, type: 'NS', data: 'ns1.example.com' },
    ],
  });

/** On 127.0.0.1, 127.0.0.2 and so on, all on one port. */
async function servers(...handlers: readonly Handler[]): Promise<readonly DnsResponder[]> {
  const started: DnsResponder[] = [];
  for (const [index, handler] of handlers.entries()) {
    const address = `127.0.0.${index + 1}`;
    const port = started[0]?.port ?? 0;
    const responder = await startDnsResponder({ address, port, udp: handler, tcp: handler });
    onTestFinished(() => responder.close());
    started.push(responder);
  }
  return started;
}

async function probe(
  [first]: readonly DnsResponder[],
  fields: Partial<DnsRequest> = {},
  options: ContextOptions & { readonly hasIpv6?: boolean } = {},
) {
  const request = dnsRequestSchema.parse({
    query: name,
    recordType: 'SOA',
    nameServer: '127.0.0.1',
    port: first?.port,
    compareSerials: true,
    ...fields,
  });
  const context = makeContext({ resolver, ...options });
  const { hasIpv6 = true } = options;
  const outcome = await probeDns(request, context, {
    ...NO_ROUTE,
    hasIpv6: () => hasIpv6,
    nameServers() {
      throw new Error('the system was not to be asked');
    },
  });
  return { ...outcome, log: logText(context) };
}

describe('the comparison of serials', () => {
  it('passes if all name servers of the zone have the same', async () => {
    const outcome = await probe(await servers(serving(7), serving(7)));
    expect(outcome).toMatchObject({
      failure: null,
      response: {
        serials: [
          { nameServer: 'ns1.example.com', serial: 7 },
          { nameServer: 'ns2.example.com', serial: 7 },
        ],
      },
    });
  });

  it('fails with the names and serials if one is behind, beside the response', async () => {
    const outcome = await probe(await servers(serving(4_294_967_295), serving(6)));
    expect(outcome.failure).toEqual({
      code: 'DNS_SERIALS_DIFFER',
      message:
        'The name servers of example.com do not agree: ns1.example.com has 4294967295, ns2.example.com has 6',
    });
    expect(outcome.response?.answer.Answer).toMatchObject([{ serial: 4_294_967_295 }]);
  });

  it.each<[string, Handler | null, RegExp]>([
    ['refuses', (asked, to) => to.send(answerTo(asked, { rcode: 5 })), /without the SOA record$/],
    ['does not run', null, /ns2\.example\.com \(127\.0\.0\.2:\d+ cannot be reached/],
  ])('fails if a name server %s', async (_what, handler, message) => {
    const started = await servers(serving(7), ...(handler === null ? [] : [handler]));
    const { failure, response } = await probe(started);
    expect(failure).toEqual({
      code: 'DNS_SERIALS_DIFFER',
      message: expect.stringMatching(message),
    });
    expect(response?.serials?.[1]).toEqual({ nameServer: 'ns2.example.com', serial: null });
  });

  it('waits for a silent name server only as long as for one', async () => {
    const started = await servers(serving(7), () => {});
    const { failure } = await probe(started, {}, { deadlineInMs: 700 });
    expect(failure?.message).toMatch(/ns2\.example\.com \(127\.0\.0\.2:\d+ did not answer SOA/);
  });

  it('asks the name servers of the check, also over TCP, and no denied address', async () => {
    const started = await servers(serving(7), serving(8), serving(7));
    const compareServers = ['127.0.0.1', '127.0.0.3'];
    const protocol = 'TCP';
    expect((await probe(started, { compareServers, protocol })).failure).toBeNull();
    expect(started[1]?.asked).toEqual([]);
    expect(started[2]?.asked.map((asked) => asked.protocol)).toEqual(['TCP']);
    const guard = denyNetworks([{ text: '127.0.0.3/32', address: '127.0.0.3', prefixBits: 32 }]);
    const denied = await probe(started, { compareServers }, { guard });
    expect(denied.failure?.message).toContain('127.0.0.3 (The name server 127.0.0.3 may not be');
    expect(started[2]?.asked).toHaveLength(1);
  });

  it.each([
    [2, 'DNS_SERVFAIL', 'SERVFAIL'],
    [5, 'DNS_REFUSED', 'REFUSED'],
  ])(
    'fails by the code of the answer that should name the servers (%d)',
    async (rcode, code, text) => {
      const zone = serving(7);
      const started = await servers((asked, to) =>
        asked.type === 2 ? to.send(answerTo(asked, { rcode })) : zone(asked, to),
      );
      const { failure, response } = await probe(started);
      expect(failure).toEqual({ code, message: expect.stringContaining(`answered ${text} to`) });
      expect(response?.responseCode).toBe('NOERROR');
    },
  );

  it('leaves out name servers that only IPv6 reaches, on a machine without it', async () => {
    const started = await servers(serving(7));
    const inIpv6 = { 'ns1.example.com': ['127.0.0.1'], 'ns2.example.com': ['2001:db8::1'] };
    const options = { resolver: staticResolver(inIpv6), hasIpv6: false };
    const { failure, response, log } = await probe(started, {}, options);
    expect(failure).toBeNull();
    expect(response?.serials).toEqual([{ nameServer: 'ns1.example.com', serial: 7 }]);
    expect(log).toContain('The name server ns2.example.com is left out of the comparison');
    const none = { ...inIpv6, 'ns1.example.com': ['2001:db8::2'] };
    const unasked = await probe(started, {}, { ...options, resolver: staticResolver(none) });
    expect(unasked.failure?.code).toBe('DNS_UNREACHABLE');
  });

  it('is not made for a code other than NOERROR', async () => {
    const started = await servers(servingZone({}));
    const { failure, response } = await probe(started);
    expect([failure, response?.responseCode]).toEqual([null, 'NXDOMAIN']);
    expect(started[0]?.asked).toHaveLength(1);
  });
});

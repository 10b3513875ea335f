import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemResolver } from '../../../../src/agent/net/dns/system/system-resolver.ts';
import { probeDns } from '../../../../src/agent/probes/dns/probe.ts';
import { createIcmpProbe } from '../../../../src/agent/probes/icmp/probe.ts';
import { probeTcp } from '../../../../src/agent/probes/tcp/probe.ts';
import { dnsRequestSchema } from '../../../../src/model/check/request/dns.ts';
import { icmpRequestSchema } from '../../../../src/model/check/request/icmp.ts';
import { tcpRequestSchema } from '../../../../src/model/check/request/tcp.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { denyNetworks } from '../../../../src/runtime/net/address-guard.ts';
import { makeContext, NO_ROUTE } from '../../../support/agent/probe-context.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { startDnsResponder } from '../../../support/servers/dns-responder.ts';
import { answerTo } from '../../../support/servers/dns-wire.ts';
import { probe } from '../../../support/servers/http-requests.ts';
import { answering, rawServer, response } from '../../../support/servers/http-servers.ts';
import { listenTcp } from '../../../support/servers/tcp-servers.ts';

const A = 1;
const NAME = 'rebinding.test';
const OPEN = '127.0.0.2';
const DENIED = '127.0.0.1';
const GUARD = denyNetworks([{ text: DENIED, address: DENIED, prefixBits: 32 }]);

/**
 * A lying name server: its first answer for the name is a permitted address, every later one an
 * address that TARGET_DENY denies. The agent must cache neither.
 */
async function rebinding(...first: readonly string[]) {
  let asked = 0;
  const responder = await startDnsResponder({
    // The name server's address is not the target of a check.
    address: '127.0.0.3',
    udp: (question, channel) => {
      if (question.type !== A) {
        channel.send(answerTo(question));
        return;
      }
      asked += 1;
      const addresses = asked === 1 ? first : [DENIED];
      const answers = addresses.map((data) => ({ name: NAME, type: 'A', ttl: 0, data }) as const);
      channel.send(answerTo(question, { answers }));
    },
  });
  onTestFinished(() => responder.close());
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const write = (name: string, text: string): string => {
    writeFileSync(folder.file(name), text);
    return folder.file(name);
  };
  const resolver = createSystemResolver({
    clock: systemClock,
    files: {
      hosts: write('hosts', ''),
      resolvConf: write('resolv.conf', `nameserver ${responder.address}\n`),
      nsswitch: write('nsswitch.conf', 'hosts: files dns\n'),
    },
    serverPort: responder.port,
  });
  return { context: makeContext({ resolver, guard: GUARD }), resolver, asked: () => asked };
}

/** Must not be reached: the same port at the denied address. */
async function inside(port: number) {
  const server = await listenTcp(() => {}, DENIED, port);
  onTestFinished(() => server.close());
  return server;
}

describe('a name that is bound to another address between two look-ups', () => {
  it('cannot lead a request elsewhere: the address that was tested is the one that is used (trust model SN2)', async () => {
    const target = await rawServer(answering(response('200 OK', 'open')), OPEN);
    const denied = await inside(target.port);
    const { context, asked } = await rebinding(OPEN);
    const url = `http://${NAME}:${target.port}/`;
    const first = await probe(url, { context });
    expect(first.response).toMatchObject({ body: 'open', ip: OPEN });
    expect(asked()).toBe(1);
    expect((await probe(url, { context })).failure?.code).toBe('ADDRESS_DENIED');
    expect(denied.accepted).toBe(0);
  });

  it('cannot lead a redirect to itself elsewhere (trust model SN2)', async () => {
    const target = await rawServer(
      (peer) =>
        answering(response('302 Found', '', `Location: http://${NAME}:${target.port}/2`))(peer),
      OPEN,
    );
    const denied = await inside(target.port);
    const { context, asked } = await rebinding(OPEN);
    const { failure } = await probe(`http://${NAME}:${target.port}/`, { context });
    expect(failure?.code).toBe('ADDRESS_DENIED');
    expect([asked(), target.requests.length, denied.accepted]).toEqual([2, 1, 0]);
  });

  it('cannot lead a TCP check elsewhere, also not by a second address after a permitted one (trust model SN2)', async () => {
    const target = await listenTcp(() => {}, OPEN);
    onTestFinished(() => target.close());
    const denied = await inside(target.port);
    const { context } = await rebinding(DENIED, OPEN);
    const request = tcpRequestSchema.parse({ hostname: NAME, port: target.port });
    const check = () => probeTcp(request, context, async () => true);
    expect((await check()).response?.address).toBe(OPEN);
    expect((await check()).failure?.code).toBe('ADDRESS_DENIED');
    expect([target.accepted, denied.accepted]).toEqual([1, 0]);
  });

  it('cannot lead a DNS check to another name server, over UDP or TCP (trust model SN2)', async () => {
    const servers = await startDnsResponder({
      address: OPEN,
      udp: (asked, channel) => channel.send(answerTo(asked, { flags: 0x200 })),
      tcp: (asked, channel) => channel.send(answerTo(asked)),
    });
    onTestFinished(() => servers.close());
    const denied = await startDnsResponder({
      address: DENIED,
      port: servers.port,
      udp: (asked, channel) => channel.send(answerTo(asked)),
      tcp: (asked, channel) => channel.send(answerTo(asked)),
    });
    onTestFinished(() => denied.close());
    const { context, resolver, asked } = await rebinding(OPEN);
    const request = dnsRequestSchema.parse({
      query: 'example.com',
      recordType: 'A',
      nameServer: NAME,
      port: servers.port,
    });
    const check = () =>
      probeDns(request, context, { nameServers: () => resolver.nameServers(), ...NO_ROUTE });
    // The truncated answer is asked for again over TCP, without another look-up.
    expect((await check()).response?.responseCode).toBe('NOERROR');
    expect([asked(), servers.asked.length]).toEqual([1, 2]);
    expect((await check()).failure?.code).toBe('ADDRESS_DENIED');
    expect(denied.asked).toEqual([]);
  });

  it('cannot lead an ICMP check elsewhere (trust model SN2)', async () => {
    const icmp = createIcmpProbe({ clock: systemClock });
    onTestFinished(() => icmp.close());
    const { context } = await rebinding(OPEN);
    const request = icmpRequestSchema.parse({ hostname: NAME, pingCount: 1 });
    const first = await icmp.probe(request, context);
    // Without the right to ping nothing is sent at all.
    if (first.failure?.code !== 'ICMP_NOT_PERMITTED') expect(first.response?.resolvedIp).toBe(OPEN);
    const second = await icmp.probe(request, context);
    expect(second).toMatchObject({ response: null, failure: { code: 'ADDRESS_DENIED' } });
  });
});

describe('the spellings of an address that is denied', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://0:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::ffff:0.0.0.0]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[2002:7f00:1::]:PORT/',
    'http://[::]:PORT/',
    'http://localhost:PORT/',
    'http://a.LocalHost.:PORT/',
  ])('%s (trust model SN1)', async (template) => {
    const denied = await listenTcp(() => {}, DENIED);
    onTestFinished(() => denied.close());
    const { context } = await rebinding(DENIED);
    const { failure } = await probe(template.replace('PORT', String(denied.port)), { context });
    expect(failure?.code).toBe('ADDRESS_DENIED');
    expect(denied.accepted).toBe(0);
  });

  it.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1'])(
    'a TCP check takes %s for a name, which nobody knows as an address',
    async (hostname) => {
      const denied = await listenTcp(() => {}, DENIED);
      onTestFinished(() => denied.close());
      const { context } = await rebinding(DENIED);
      const parsed = tcpRequestSchema.safeParse({ hostname, port: denied.port });
      if (parsed.success) {
        const { failure } = await probeTcp(parsed.data, context, async () => true);
        expect(failure).not.toBeNull();
      }
      expect(denied.accepted).toBe(0);
    },
  );
});

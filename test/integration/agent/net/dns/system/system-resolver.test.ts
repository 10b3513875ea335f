import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GetAddresses } from '../../../../../../src/agent/net/dns/system/getaddrinfo.ts';
import { createSystemResolver } from '../../../../../../src/agent/net/dns/system/system-resolver.ts';
import type { Family, Resolution } from '../../../../../../src/agent/net/resolver.ts';
import { logText, makeContext } from '../../../../../support/agent/probe-context.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../../../support/process/temp-folder.ts';
import {
  type DnsResponder,
  type Handler,
  startDnsResponder,
} from '../../../../../support/servers/dns-responder.ts';
import { answerTo } from '../../../../../support/servers/dns-wire.ts';
import { servingZone, type Zone } from '../../../../../support/servers/dns-zone.ts';

const A = 1;
const AAAA = 28;

let folder: ReturnType<typeof makeTempFolder>;
let clock: FakeClock;
let responders: DnsResponder[];

beforeEach(() => {
  folder = makeTempFolder();
  clock = new FakeClock();
  responders = [];
});
afterEach(async () => {
  await Promise.all(responders.map((responder) => responder.close()));
  folder.remove();
  expect(clock.pendingTimers).toBe(0);
});

/** The first server is 127.0.0.1, the next 127.0.0.2 and so on, all on the first one's port. */
async function serve(...handlers: readonly (Handler | null)[]): Promise<void> {
  for (const [index, handler] of handlers.entries()) {
    const address = `127.0.0.${index + 1}`;
    const port = responders[0]?.port ?? 0;
    if (handler === null) continue;
    responders.push(await startDnsResponder({ address, port, udp: handler, tcp: handler }));
  }
}

interface Setup {
  readonly hosts?: string;
  readonly resolvConf?: string;
  readonly nsswitch?: string;
  readonly getAddresses?: GetAddresses;
  readonly deadlineInMs?: number;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

function systemWith(setup: Setup) {
  const files = {
    hosts: folder.file('hosts'),
    resolvConf: folder.file('resolv.conf'),
    nsswitch: folder.file('nsswitch.conf'),
  };
  writeFileSync(files.hosts, setup.hosts ?? '127.0.0.1 localhost\n');
  writeFileSync(files.resolvConf, setup.resolvConf ?? 'nameserver 127.0.0.1\nsearch .\n');
  writeFileSync(files.nsswitch, setup.nsswitch ?? 'hosts: files dns\n');
  const { getAddresses = () => Promise.reject(new Error('the C library was not to be asked')) } =
    setup;
  const resolver = createSystemResolver({
    clock,
    files,
    getAddresses,
    serverPort: responders[0]?.port ?? 1,
    ...(setup.limitMs === undefined ? {} : { limitMs: setup.limitMs }),
  });
  const context = makeContext({
    clock,
    deadlineInMs: setup.deadlineInMs ?? 30_000,
    ...(setup.signal === undefined ? {} : { signal: setup.signal }),
  });
  return {
    files,
    resolver,
    log: () => logText(context),
    resolve: (name: string, family: Family = 4) => resolver.resolve(name, family, context),
  };
}

/** The questions to the servers, in order: `name type`. */
function asked(index = 0): readonly string[] {
  return (responders[index]?.asked ?? []).map(({ name, type }) => `${name} ${type}`);
}

const found = (...addresses: readonly string[]): unknown => ({ ok: true, addresses });
const failure = (resolution: Resolution): string =>
  resolution.ok ? 'none' : `${resolution.failure.code}: ${resolution.failure.message}`;
const a = (name: string, data: string) => ({ name, type: 'A', data }) as const;
const aaaa = (name: string, data: string) => ({ name, type: 'AAAA', data }) as const;

const ZONE: Zone = {
  'www.example.com 1': [a('www.example.com', '192.0.2.1'), a('www.example.com', '192.0.2.2')],
  'www.example.com 28': [aaaa('www.example.com', '2001:db8::1')],
  'alias.example.com 1': [
    { name: 'alias.example.com', type: 'CNAME', data: 'www.example.com' },
    a('www.example.com', '192.0.2.1'),
  ],
  'only4.example.com 1': [a('only4.example.com', '192.0.2.4')],
  'mailonly.example.com 15': [],
  'db.corp.example 1': [a('db.corp.example', '192.0.2.7')],
  'xn--bcher-kva.example 1': [a('xn--bcher-kva.example', '192.0.2.9')],
};

describe('without asking anybody', () => {
  it.each([
    ['192.0.2.1', 4, ['192.0.2.1']],
    ['2001:db8::1', 6, ['2001:db8::1']],
    ['[2001:db8::1]', 6, ['2001:db8::1']],
    ['localhost', 4, ['127.0.0.1']],
    ['LOCALHOST.', 6, ['::1']],
    ['db.localhost', 4, ['127.0.0.1']],
  ] as const)('%s is known for IPv%d', async (name, family, addresses) => {
    expect(await systemWith({}).resolve(name, family)).toEqual({ ok: true, addresses });
  });

  it('an address of the other family is no address', async () => {
    const { resolve } = systemWith({});
    expect(failure(await resolve('192.0.2.1', 6))).toBe(
      'DNS_NO_ADDRESS: 192.0.2.1 is an IPv4 address, and IPv6 was asked for',
    );
    expect(failure(await resolve('::1', 4))).toContain('DNS_NO_ADDRESS');
  });

  it('a name that no query can contain does not exist', async () => {
    expect(failure(await systemWith({}).resolve('a..b'))).toBe(
      'DNS_NXDOMAIN: a..b is not a valid host name',
    );
  });
});

describe('the hosts file', () => {
  const hosts = '192.0.2.50 web.example web\n192.0.2.51 web.example\n2001:db8::50 six.example\n';

  it('precedes DNS, in any case and with all its addresses', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({ hosts });
    expect(await resolve('WEB.example')).toEqual(found('192.0.2.50', '192.0.2.51'));
    expect(asked()).toEqual([]);
  });

  it('is read again when it changes', async () => {
    await serve(servingZone(ZONE));
    const { resolve, files } = systemWith({ hosts });
    expect(await resolve('web')).toEqual(found('192.0.2.50'));
    writeFileSync(files.hosts, '192.0.2.99 web\n');
    await clock.advance(1000);
    expect(await resolve('web')).toEqual(found('192.0.2.99'));
  });

  it('decides about a name that it has in the other family and DNS does not have', async () => {
    await serve(servingZone(ZONE));
    expect(failure(await systemWith({ hosts }).resolve('six.example'))).toBe(
      'DNS_NO_ADDRESS: The name six.example has no IPv4 address; the hosts file has an IPv6 address',
    );
  });
});

describe('DNS', () => {
  it('returns the addresses of the requested family', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({});
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
    expect(await resolve('www.example.com', 6)).toEqual(found('2001:db8::1'));
    expect(asked()).toEqual([`www.example.com ${A}`, `www.example.com ${AAAA}`]);
  });

  it('follows aliases and accepts names of other scripts', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({});
    expect(await resolve('alias.example.com')).toEqual(found('192.0.2.1'));
    expect(await resolve('bücher.example')).toEqual(found('192.0.2.9'));
  });

  it('reports that a name does not exist', async () => {
    await serve(servingZone(ZONE));
    expect(failure(await systemWith({}).resolve('nope.example.com'))).toMatch(
      /^DNS_NXDOMAIN: The name nope\.example\.com does not exist \(127\.0\.0\.1:\d+ answered NXDOMAIN\)$/,
    );
  });

  it('reports that a name has only the other family', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({});
    expect(failure(await resolve('only4.example.com', 6))).toBe(
      'DNS_NO_ADDRESS: The name only4.example.com has no IPv6 address; it has an IPv4 address',
    );
    expect(failure(await resolve('mailonly.example.com'))).toBe(
      'DNS_NO_ADDRESS: The name mailonly.example.com has no IPv4 address and no IPv6 address either',
    );
  });

  it.each([
    [2, 'DNS_SERVFAIL', 'SERVFAIL'],
    [5, 'DNS_REFUSED', 'REFUSED'],
    [4, 'DNS_ERROR', 'NOTIMP'],
  ])('code %d is %s', async (rcode, code, name) => {
    await serve((question, channel) => channel.send(answerTo(question, { rcode })));
    expect(failure(await systemWith({}).resolve('www.example.com'))).toMatch(
      new RegExp(`^${code}: 127\\.0\\.0\\.1:\\d+ answered ${name} to the question for`),
    );
    expect(asked()).toHaveLength(1);
  });

  it('is asked over TCP if resolv.conf says so', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({ resolvConf: 'nameserver 127.0.0.1\noptions use-vc' });
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
    expect(responders[0]?.asked[0]?.protocol).toBe('TCP');
  });

  it('uses a changed resolv.conf', async () => {
    await serve(servingZone({}), servingZone(ZONE));
    const { resolve, files } = systemWith({});
    expect(failure(await resolve('www.example.com'))).toContain('DNS_NXDOMAIN');
    writeFileSync(files.resolvConf, 'nameserver 127.0.0.2\n');
    await clock.advance(1000);
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
  });
});

describe('several name servers', () => {
  const resolvConf = 'nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions timeout:1 attempts:2\n';
  const code =
    (rcode: number): Handler =>
    (question, channel) =>
      channel.send(answerTo(question, { rcode }));

  it.each([
    ['SERVFAIL', code(2)],
    ['REFUSED', code(5)],
    [
      'garbage',
      ((question, channel) => {
        channel.send(answerTo(question).subarray(0, 14));
      }) satisfies Handler,
    ],
    [
      'a referral',
      ((question, channel) => {
        channel.send(answerTo(question, { flags: 0 }));
      }) satisfies Handler,
    ],
  ] as const)('%s of the first leads to the second', async (_what, first) => {
    await serve(first, servingZone(ZONE));
    const { resolve } = systemWith({ resolvConf });
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
  });

  it('NXDOMAIN of the first is final', async () => {
    await serve(servingZone({}), servingZone(ZONE));
    expect(failure(await systemWith({ resolvConf }).resolve('www.example.com'))).toContain(
      'DNS_NXDOMAIN',
    );
    expect(asked(1)).toEqual([]);
  });

  it('a silent one costs its time, and the second answers', async () => {
    await serve(() => {}, servingZone(ZONE));
    const { resolve, log } = systemWith({ resolvConf });
    const resolution = resolve('www.example.com');
    await responders[0]?.questions(1);
    await clock.advance(1000);
    expect(await resolution).toEqual(found('192.0.2.1', '192.0.2.2'));
    expect(log()).toContain('did not answer A www.example.com over UDP within 1000 ms');
  });

  it('silence of all ends after the attempts of resolv.conf', async () => {
    await serve(
      () => {},
      () => {},
    );
    const resolution = systemWith({ resolvConf }).resolve('www.example.com');
    for (let question = 1; question <= 2; question += 1) {
      for (const responder of responders) {
        await responder.questions(2 * question - 1);
        await clock.advance(1000);
      }
    }
    expect(failure(await resolution)).toMatch(/^DNS_TIMEOUT: .*; 4 questions in 4000 ms$/);
  });

  it('unreachable servers are reported at once', async () => {
    expect(failure(await systemWith({ resolvConf }).resolve('www.example.com'))).toMatch(
      /^DNS_UNREACHABLE: .*ECONNREFUSED/,
    );
  });
});

describe('the time of a look-up', () => {
  it.each([
    ["the caller's deadline", { deadlineInMs: 1500, limitMs: 9000 }],
    ['its own limit', { deadlineInMs: 9000, limitMs: 1500 }],
  ])('ends with %s', async (_what, times) => {
    await serve(() => {});
    const resolution = systemWith(times).resolve('www.example.com');
    await responders[0]?.questions(1);
    await clock.advance(1499);
    expect(clock.pendingTimers).toBeGreaterThan(0);
    await clock.advance(1);
    expect(failure(await resolution)).toContain('DNS_TIMEOUT');
  });

  it('ends with the run', async () => {
    await serve(() => {});
    const controller = new AbortController();
    const resolution = systemWith({ signal: controller.signal }).resolve('www.example.com');
    await responders[0]?.questions(1);
    controller.abort();
    expect(failure(await resolution)).toContain('CANCELLED');
  });
});

describe('the search list', () => {
  const resolvConf = 'nameserver 127.0.0.1\nsearch corp.example prod.example\n';

  it('comes first for a name without a dot', async () => {
    await serve(servingZone(ZONE));
    expect(await systemWith({ resolvConf }).resolve('db')).toEqual(found('192.0.2.7'));
    expect(asked()).toEqual([`db.corp.example ${A}`]);
  });

  it('comes last for a name with a dot', async () => {
    await serve(servingZone({ 'a.b.prod.example 1': [a('a.b.prod.example', '192.0.2.8')] }));
    expect(await systemWith({ resolvConf }).resolve('a.b')).toEqual(found('192.0.2.8'));
    expect(asked()).toEqual([`a.b ${A}`, `a.b.corp.example ${A}`, `a.b.prod.example ${A}`]);
  });

  it('comes first below ndots', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({ resolvConf: `${resolvConf}options ndots:5\n` });
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
    expect(asked()).toHaveLength(3);
  });

  it('is not used for a name with a trailing dot', async () => {
    await serve(servingZone(ZONE));
    expect(failure(await systemWith({ resolvConf }).resolve('db.'))).toContain('DNS_NXDOMAIN');
    expect(asked()).toEqual([`db ${A}`]);
  });

  it('ends with a server that is silent', async () => {
    await serve(() => {});
    const options = 'options timeout:1 attempts:1\n';
    const resolution = systemWith({ resolvConf: `${resolvConf}${options}` }).resolve('db');
    await responders[0]?.questions(1);
    await clock.advance(1000);
    expect(failure(await resolution)).toContain('DNS_TIMEOUT');
    expect(new Set(asked())).toEqual(new Set([`db.corp.example ${A}`]));
  });

  it('continues after SERVFAIL, and reports that rather than unknown names', async () => {
    await serve((question, channel) =>
      channel.send(answerTo(question, { rcode: question.name === 'db.corp.example' ? 2 : 3 })),
    );
    expect(failure(await systemWith({ resolvConf }).resolve('db'))).toContain(
      'answered SERVFAIL to the question for db.corp.example',
    );
    expect(asked()).toHaveLength(3);
  });
});

describe('nsswitch.conf', () => {
  it('may put DNS before the hosts file', async () => {
    await serve(servingZone(ZONE));
    const hosts = '192.0.2.50 www.example.com\n192.0.2.51 other.example\n';
    const { resolve } = systemWith({ hosts, nsswitch: 'hosts: dns files' });
    expect(await resolve('www.example.com')).toEqual(found('192.0.2.1', '192.0.2.2'));
    expect(await resolve('other.example')).toEqual(found('192.0.2.51'));
  });

  it('may leave DNS out', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({ nsswitch: 'hosts: files' });
    expect(failure(await resolve('www.example.com'))).toBe(
      'DNS_NXDOMAIN: The name www.example.com is not in the hosts file',
    );
    expect(asked()).toEqual([]);
  });

  it('may end the look-up after a source', async () => {
    await serve(servingZone(ZONE));
    const { resolve } = systemWith({ nsswitch: 'hosts: files [NOTFOUND=return] dns' });
    expect(failure(await resolve('www.example.com'))).toContain('DNS_NXDOMAIN');
    expect(asked()).toEqual([]);
  });

  const known: GetAddresses = (name, family) =>
    Promise.resolve(name === 'printer.local' && family === 4 ? ['192.0.2.77'] : []);

  it('may name sources that only the C library can query', async () => {
    await serve(servingZone(ZONE));
    const { resolve, log } = systemWith({
      nsswitch: 'hosts: files mdns4_minimal dns',
      getAddresses: known,
    });
    expect(await resolve('printer.local')).toEqual(found('192.0.2.77'));
    expect(log()).toContain(
      'Asking the C library for printer.local (nsswitch.conf names mdns4_minimal)',
    );
    expect(failure(await resolve('printer.local', 6))).toMatch(/^DNS_NXDOMAIN: .*127\.0\.0\.1/);
  });

  it('leads to the C library only for names that such a source could know', async () => {
    await serve(servingZone(ZONE));
    const { resolve, log } = systemWith({ nsswitch: 'hosts: files mdns4_minimal dns' });
    expect(failure(await resolve('nope.example.com'))).toContain('DNS_NXDOMAIN');
    expect(log()).not.toContain('C library');
  });
});

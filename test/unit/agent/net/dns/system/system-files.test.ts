import { describe, expect, it } from 'vitest';
import { parseHosts } from '../../../../../../src/agent/net/dns/system/hosts-file.ts';
import { parseNsswitch } from '../../../../../../src/agent/net/dns/system/nsswitch.ts';
import {
  candidateNames,
  parseResolvConf,
} from '../../../../../../src/agent/net/dns/system/resolv-conf.ts';
import {
  nameServersOf,
  usesResolvedStub,
} from '../../../../../../src/agent/net/dns/system/system-files.ts';

describe('resolv.conf', () => {
  it('has the defaults of resolv.conf(5) for what it omits', () => {
    expect(parseResolvConf('', 'host')).toEqual({
      nameServers: ['127.0.0.1'],
      search: [],
      ndots: 1,
      timeoutMs: 5000,
      attempts: 2,
      rotate: false,
      useTcp: false,
    });
  });

  it('is read with comments, tabs, scopes and any order', () => {
    const text = [
      '# by hand',
      '; also a comment',
      'nameserver 192.0.2.1 # the first',
      'options ndots:5 timeout:2',
      'nameserver\tfe80::1%eth0',
      'nameserver not-an-address',
      '  nameserver 2001:db8::53',
      'nameserver 192.0.2.4',
      'search one.example  two.example.',
      'options attempts:3 rotate use-vc edns0',
    ].join('\r\n');
    expect(parseResolvConf(text, 'host.corp.example')).toEqual({
      nameServers: ['192.0.2.1', 'fe80::1%eth0', '2001:db8::53'],
      search: ['one.example', 'two.example.'],
      ndots: 5,
      timeoutMs: 2000,
      attempts: 3,
      rotate: true,
      useTcp: true,
    });
  });

  it('ignores comments, also on lines with Windows line ends', () => {
    const text = 'search a.example # old b.example\r\noptions timeout:2 ; rotate\r\n';
    const { search, rotate } = parseResolvConf(text, 'host');
    expect(search).toEqual(['a.example']);
    expect(rotate).toBe(false);
  });

  it('limits its numbers', () => {
    const { ndots, timeoutMs, attempts } = parseResolvConf(
      'options ndots:99 timeout:0 attempts:99',
      'host',
    );
    expect([ndots, timeoutMs, attempts]).toEqual([15, 1000, 5]);
    expect(parseResolvConf('options ndots:x', 'host').ndots).toBe(1);
  });

  it('searches by the last of domain and search, else by the domain of the host', () => {
    expect(parseResolvConf('search a.example\ndomain b.example c', 'host').search).toEqual([
      'b.example',
    ]);
    expect(parseResolvConf('domain b.example\nsearch a.example c', 'host').search).toEqual([
      'a.example',
      'c',
    ]);
    expect(parseResolvConf('', 'host.corp.example').search).toEqual(['corp.example']);
    expect(parseResolvConf('search .', 'host.corp.example').search).toEqual([]);
  });

  it('starts with another server each time if it has the option rotate', () => {
    const conf = parseResolvConf(
      'nameserver 192.0.2.1\nnameserver 192.0.2.2\noptions rotate',
      'host',
    );
    const order = (turn: number): string[] =>
      nameServersOf(conf, 53, turn).servers.map(({ address }) => address);
    expect([order(0), order(1), order(2)]).toEqual([
      ['192.0.2.1', '192.0.2.2'],
      ['192.0.2.2', '192.0.2.1'],
      ['192.0.2.1', '192.0.2.2'],
    ]);
    expect(nameServersOf({ ...conf, rotate: false }, 53, 1).servers[0].address).toBe('192.0.2.1');
  });

  it('shows whether systemd-resolved answers', () => {
    expect(usesResolvedStub(parseResolvConf('nameserver 127.0.0.53', 'host'))).toBe(true);
    expect(usesResolvedStub(parseResolvConf('nameserver 192.0.2.1', 'host'))).toBe(false);
  });
});

describe('the search list', () => {
  const search = ['one.example', 'two.example.'];

  it.each([
    ['a short name', 'db.', 1, ['db.one.example.', 'db.two.example.', 'db.']],
    [
      'a name with a dot',
      'db.prod.',
      1,
      ['db.prod.', 'db.prod.one.example.', 'db.prod.two.example.'],
    ],
    ['ndots 5', 'a.b.c.', 5, ['a.b.c.one.example.', 'a.b.c.two.example.', 'a.b.c.']],
    ['ndots 0', 'db.', 0, ['db.', 'db.one.example.', 'db.two.example.']],
  ])('%s', (_what, name, ndots, expected) => {
    expect(candidateNames(name, false, { search, ndots })).toEqual(expected);
  });

  it('is not used for a name with a trailing dot', () => {
    expect(candidateNames('db.', true, { search, ndots: 1 })).toEqual(['db.']);
  });

  it('leaves out names that become too long', () => {
    const name = `${'a.'.repeat(120)}`;
    expect(candidateNames(name, false, { search: ['two.example'], ndots: 1 })).toHaveLength(2);
    expect(candidateNames(name, false, { search: ['x'.repeat(40)], ndots: 1 })).toEqual([name]);
  });
});

describe('the hosts file', () => {
  const hosts = parseHosts(
    [
      '127.0.0.1 localhost',
      '192.0.2.1\tweb.example Web # front',
      '192.0.2.2 web.example',
      '192.0.2.2 web.example',
      '2001:db8::1 web.example.',
      'nonsense web.example',
      '# 192.0.2.9 web.example',
      '192.0.2.3',
    ].join('\n'),
  );

  it('yields each address of a name once, whatever its case', () => {
    expect(hosts.addresses('WEB.example.', 4)).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(hosts.addresses('web', 4)).toEqual(['192.0.2.1']);
    expect(hosts.addresses('web.example', 6)).toEqual(['2001:db8::1']);
  });

  it('yields nothing for other names', () => {
    expect(hosts.addresses('front', 4)).toEqual([]);
    expect(hosts.addresses('constructor', 4)).toEqual([]);
  });

  it('ignores comments on lines with Windows line ends', () => {
    const windows = parseHosts('192.0.2.1 web # once db\r\n192.0.2.2 mail\r\n');
    expect(windows.addresses('web', 4)).toEqual(['192.0.2.1']);
    expect(windows.addresses('mail', 4)).toEqual(['192.0.2.2']);
    expect(windows.addresses('db', 4)).toEqual([]);
  });

  it('reads a name with fifty thousand addresses as fast as any', () => {
    const lines = Array.from(
      { length: 50_000 },
      (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255} big`,
    );
    expect(parseHosts(lines.join('\n')).addresses('big', 4)).toHaveLength(50_000);
  });
});

describe('nsswitch.conf', () => {
  const read = (text: string) =>
    parseNsswitch(text).map(({ name, returnOn }) => [name, [...returnOn]]);

  it('is files, then dns, without a hosts line', () => {
    expect(read('')).toEqual([
      ['files', []],
      ['dns', []],
    ]);
    expect(read('passwd: files systemd')).toEqual([
      ['files', []],
      ['dns', []],
    ]);
  });

  it('has the order of the sources and what ends the look-up', () => {
    expect(read('# x\nhosts:  files mdns4_minimal [NOTFOUND=return] dns # y')).toEqual([
      ['files', []],
      ['mdns4_minimal', ['NOTFOUND']],
      ['dns', []],
    ]);
    expect(
      read('hosts: resolve [!UNAVAIL=return] files [notfound=continue tryagain=return] dns'),
    ).toEqual([
      ['resolve', ['NOTFOUND', 'TRYAGAIN']],
      ['files', ['TRYAGAIN']],
      ['dns', []],
    ]);
  });

  it('has no source in a comment, also on lines with Windows line ends', () => {
    expect(read('hosts: files dns # not resolve\r\n')).toEqual([
      ['files', []],
      ['dns', []],
    ]);
  });

  it('may name no source at all', () => {
    expect(read('hosts:')).toEqual([]);
  });
});

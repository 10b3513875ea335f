import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectInside } from '../support/network/connect-in-namespace.ts';
import { NetworkNamespace } from '../support/network/network-namespace.ts';
import { lacking } from '../support/process/system-needs.ts';

const PORT = 8080;
const lacks = lacking({ commands: ['ip', 'sysctl', 'sh'], files: [] });

describe.skipIf(lacks !== null)(
  `Connecting on real networks (lacking: ${lacks ?? 'nothing'})`,
  () => {
    let namespace: NetworkNamespace;
    beforeEach(() => {
      namespace = new NetworkNamespace();
    });
    afterEach(() => {
      namespace.remove();
    });

    const names = {
      'both.test': ['2001:db8::1', '127.0.0.1'],
      'four.test': ['127.0.0.1'],
      localhost: ['127.0.0.1', '::1'],
    };
    const listen = [{ host: '127.0.0.1', port: PORT }];
    const over6 = (hostname: string) => ({ hostname, port: PORT, ipFamily: 'IPv6' }) as const;
    const over4 = (hostname: string) => ({ hostname, port: PORT, ipFamily: 'IPv4' }) as const;

    it.each([
      ['with a loopback', ''],
      ['switched off', 'net.ipv6.conf.all.disable_ipv6=1'],
    ])('on a machine that has no IPv6 (%s), names fall back to IPv4', (_how, setting) => {
      if (setting !== '') namespace.run('sysctl', '-qw', setting);
      const reports = connectInside(namespace, {
        targets: [over6('both.test'), over6('four.test'), over6('[2001:db8::1]')],
        names,
        listen,
      });
      const [both, four, literal] = reports;
      for (const report of [both, four]) {
        expect(report).toMatchObject({ code: null, address: '127.0.0.1', ipFamily: 'IPv4' });
        expect(report?.log.join()).toContain('this machine has no IPv6: falling back to IPv4');
      }
      expect(literal).toMatchObject({
        code: 'CONNECT_UNREACHABLE',
        message: `[2001:db8::1]:${PORT} cannot be reached: this machine has no IPv6`,
      });
    });

    it('on a machine that has no IPv6, any family is IPv4', () => {
      const any = { hostname: 'both.test', port: PORT, ipFamily: 'ANY' } as const;
      const [report] = connectInside(namespace, { targets: [any], names, listen });
      expect(report).toMatchObject({ code: null, address: '127.0.0.1', ipFamily: 'IPv4' });
      expect(report?.log.join()).not.toContain('IPv6');
    });

    it('a broken IPv6 is reported where IPv4 connects', () => {
      giveIpv6(namespace);
      const any = { hostname: 'both.test', port: PORT, ipFamily: 'ANY' } as const;
      const [report] = connectInside(namespace, { targets: [any], names, listen });
      expect(report).toMatchObject({ code: null, address: '127.0.0.1', ipFamily: 'IPv4' });
      expect(report?.log.join()).toContain('IPv6 does not work for both.test, IPv4 does: ');
    });

    it('loopback IPv6 works on a machine that has no other IPv6', () => {
      const targets = [over6('localhost'), over6('::1')];
      const reports = connectInside(namespace, {
        targets,
        names,
        listen: [...listen, { host: '::1', port: PORT }],
      });
      for (const report of reports) {
        expect(report).toMatchObject({ code: null, address: '::1', ipFamily: 'IPv6' });
      }
    });

    it('a machine with IPv6 does not fall back to IPv4', () => {
      giveIpv6(namespace);
      const targets = [over6('both.test'), over6('four.test')];
      const [both, four] = connectInside(namespace, { targets, names, listen });
      expect(both).toMatchObject({ code: 'CONNECT_UNREACHABLE', address: '2001:db8::1' });
      expect(four).toMatchObject({ code: 'DNS_NO_ADDRESS', address: null });
    });

    it('a missing route is reported as such, for a host and for a network', () => {
      namespace.run('ip', 'route', 'add', 'unreachable', '198.51.100.0/24');
      const targets = [over4('198.51.100.1'), over4('203.0.113.1')];
      const reports = connectInside(namespace, { targets });
      expect(reports.map(({ code }) => code)).toEqual([
        'CONNECT_UNREACHABLE',
        'CONNECT_UNREACHABLE',
      ]);
      expect(reports[0]?.message).toContain('EHOSTUNREACH');
      expect(reports[1]?.message).toContain('ENETUNREACH');
    });

    it('a TCP self-connection is reported as refused', () => {
      namespace.run('sysctl', '-qw', 'net.ipv4.ip_local_port_range=45000 45000');
      const target = { hostname: '127.0.0.1', port: 45_000, ipFamily: 'IPv4' } as const;
      const [report] = connectInside(namespace, { targets: [target] });
      expect(report?.code).toBe('CONNECT_REFUSED');
    });

    it('too few file descriptors are not blamed on the target', () => {
      const [report] = connectInside(namespace, {
        targets: [over4('127.0.0.1')],
        listen,
        useUpDescriptors: true,
      });
      expect(report?.code).toBe('INTERNAL_ERROR');
      expect(report?.message).toContain('EMFILE');
    });

    it('too few local ports are not blamed on the target', () => {
      // One port, which the listener itself uses.
      namespace.run('sysctl', '-qw', `net.ipv4.ip_local_port_range=${PORT} ${PORT}`);
      const [report] = connectInside(namespace, { targets: [over4('127.0.0.1')], listen });
      expect(report?.code).toBe('INTERNAL_ERROR');
      expect(report?.message).toContain('EADDRNOTAVAIL');
    });
  },
);

/** An address beyond the machine's own links, but no route to others. */
function giveIpv6(namespace: NetworkNamespace): void {
  namespace.run('ip', 'link', 'add', 'inner', 'type', 'veth', 'peer', 'name', 'outer');
  namespace.run('ip', 'link', 'set', 'inner', 'up');
  namespace.run('ip', 'link', 'set', 'outer', 'up');
  namespace.run('ip', 'addr', 'add', 'fd77::1/64', 'dev', 'inner', 'nodad');
}

import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildFilter } from '../../../../../src/agent/evidence/capture/filter.ts';

const TRANSPORTS = ['tcp', 'udp', 'icmp', 'dns'] as const;

describe('The filter of a capture', () => {
  it.each([
    [
      { addresses: ['192.0.2.7'], port: 443, transport: 'tcp' },
      '((tcp) and ((ip dst host 192.0.2.7 and dst port 443) or (ip src host 192.0.2.7 and src port 443)))' +
        ' or (ip src host 192.0.2.7 and icmp[0] = 3 and icmp[17] = 6 and icmp[24:4] = 3221225991 and icmp[30:2] = 443)',
    ],
    [{ addresses: ['192.0.2.7'], port: null, transport: 'icmp' }, '(icmp and ip host 192.0.2.7)'],
    [
      { addresses: ['2001:db8::1', '192.0.2.7'], port: null, transport: 'icmp' },
      '(icmp6 and ip6 host 2001:db8::1) or (icmp and ip host 192.0.2.7)',
    ],
    [
      { addresses: ['2001:db8::1'], port: null, transport: 'udp' },
      '((udp) and ((ip6 dst host 2001:db8::1) or (ip6 src host 2001:db8::1)))' +
        ' or (ip6 src host 2001:db8::1 and ip6[6] = 58 and ip6[40] = 1 and ip6[54] = 17' +
        ' and ip6[72:4] = 536939960 and ip6[76:4] = 0 and ip6[80:4] = 0 and ip6[84:4] = 1)',
    ],
  ] as const)('holds what goes to and comes from the target: %j', (filter, expression) => {
    expect(buildFilter(filter)).toEqual({ ok: true, expression });
  });

  it('of name servers matches UDP and TCP', () => {
    const built = buildFilter({ addresses: ['192.0.2.7'], port: 53, transport: 'dns' });
    expect(built).toMatchObject({ ok: true, expression: expect.stringContaining('(udp or tcp)') });
  });

  it('has each address once, however it is written', () => {
    const once = buildFilter({ addresses: ['192.0.2.7'], port: 80, transport: 'tcp' });
    const addresses = ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:0207'] as const;
    expect(buildFilter({ addresses, port: 80, transport: 'tcp' })).toEqual(once);
    const local = buildFilter({ addresses: ['fe80::1'], port: 80, transport: 'tcp' });
    const zoned = buildFilter({ addresses: ['fe80::1%eth0'], port: 80, transport: 'tcp' });
    expect(zoned).toEqual(local);
  });

  it.each([
    '',
    'example.com',
    '1.2.3.4 or tcp',
    '1.2.3.4) or (tcp',
    '::1 or tcp',
    '%eth0',
    '1.2.3',
  ])('takes no other text for an address: %j', (address) => {
    const built = buildFilter({ addresses: [address], port: 80, transport: 'tcp' });
    expect(built).toEqual({ ok: false, note: `${JSON.stringify(address)} is not an IP address` });
  });

  it.each([0, -1, 65_536, 1.5, Number.NaN])('takes no other number for a port: %d', (port) => {
    const built = buildFilter({ addresses: ['192.0.2.7'], port, transport: 'tcp' });
    expect(built).toEqual({ ok: false, note: `${port} is not a port` });
  });

  it('does not grow with a name that has very many addresses', () => {
    const rest = Array.from({ length: 32 }, (_, index) => `192.0.2.${index + 8}`);
    const built = buildFilter({ addresses: ['192.0.2.7', ...rest], port: 80, transport: 'tcp' });
    expect(built).toMatchObject({ ok: false, note: expect.stringContaining('32 addresses') });
  });

  it('consists only of its own words, addresses and numbers', () => {
    const word = /^(?:tcp|udp|icmp6?|ip6?|dst|src|host|port|and|or|=|\d+|(?:icmp|ip6)\[[\d:]+\])$/;
    const addresses = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string(),
      fc.string().map((s) => `::1%${s}`),
    );
    fc.assert(
      fc.property(
        addresses,
        fc.nat(65_535),
        fc.constantFrom(...TRANSPORTS),
        (address, port, transport) => {
          const built = buildFilter({ addresses: [address], port: port + 1, transport });
          if (!built.ok) return;
          for (const token of built.expression.replace(/[()]/g, ' ').trim().split(/\s+/)) {
            expect(isIP(token) !== 0 || word.test(token), token).toBe(true);
          }
        },
      ),
    );
  });
});

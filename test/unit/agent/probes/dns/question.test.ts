import { expect, it } from 'vitest';
import { questionOf } from '../../../../../src/agent/probes/dns/question.ts';
import { type DnsRequest, dnsRequestSchema } from '../../../../../src/model/check/request/dns.ts';

function question(query: string, recordType: DnsRequest['recordType']) {
  return questionOf(dnsRequestSchema.parse({ query, recordType }));
}

it.each([
  ['example.com', 'A', 'example.com.', 1],
  ['example.com.', 'HTTPS', 'example.com.', 65],
  ['_sip._tcp.example.com', 'SRV', '_sip._tcp.example.com.', 33],
  ['.', 'NS', '.', 2],
  ['bücher.example', 'CAA', 'xn--bcher-kva.example.', 257],
  ['1.2.0.192.in-addr.arpa', 'PTR', '1.2.0.192.in-addr.arpa.', 12],
  ['192.0.2.1', 'PTR', '1.2.0.192.in-addr.arpa.', 12],
  [
    '2001:db8::1',
    'PTR',
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
    12,
  ],
  [
    '::ffff:192.0.2.1',
    'PTR',
    '1.0.2.0.0.0.0.c.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.',
    12,
  ],
  ['fe80::1%eth0', 'PTR', `${'1.'}${'0.'.repeat(28)}8.e.f.ip6.arpa.`, 12],
  ['::', 'PTR', `${'0.'.repeat(32)}ip6.arpa.`, 12],
  ['192.0.2.1', 'A', '192.0.2.1.', 1],
] as const)('%s %s', (query, recordType, name, type) => {
  expect(question(query, recordType)).toEqual({ name, type });
});

it('only a PTR question may be about an IPv6 address', () => {
  expect(() => question('2001:db8::1', 'AAAA')).toThrow('must be a domain name');
});

it('a name that no question can contain is refused', () => {
  // Shorter than 64 characters for the user, and longer in ASCII.
  expect(question(`${'ü'.repeat(62)}.example`, 'A')).toBeNull();
});

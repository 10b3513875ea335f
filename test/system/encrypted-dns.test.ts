import { describe, expect, it } from 'vitest';
import { probeDns } from '../../src/agent/probes/dns/probe.ts';
import { type DnsRequest, dnsRequestSchema } from '../../src/model/check/request/dns.ts';
import { makeContext, NO_ROUTE } from '../support/agent/probe-context.ts';
import { lacking } from '../support/process/system-needs.ts';
import { startUnbound } from '../support/real-servers/unbound.ts';
import { createAuthority } from '../support/servers/certificates.ts';
import { trusting } from '../support/tls-trust.ts';

const lacks = lacking({ commands: ['unbound'], files: [] });

describe.skipIf(lacks !== null)(`DNS over TLS and HTTPS with unbound (lacks ${lacks})`, () => {
  const RECORDS = [
    'web.test. 60 IN A 192.0.2.7',
    'web.test. 60 IN MX 10 mail.test.',
    // More than a datagram takes.
    ...Array.from({ length: 60 }, (_, n) => `big.test. 60 IN TXT "${n} ${'x'.repeat(200)}"`),
  ];

  it.each<[string, Partial<DnsRequest>, string | null]>([
    ['DNS over TLS', { protocol: 'DOT' }, null],
    ['DNS over HTTPS by POST', { protocol: 'DOH' }, 'h2'],
    ['DNS over HTTPS by GET', { protocol: 'DOH', dohMethod: 'GET' }, 'h2'],
  ])('asks over %s, with the certificate and the phases', async (_what, fields, alpnProtocol) => {
    const authority = await createAuthority();
    const identity = await authority.issue({ names: ['dns.test'] });
    const { tlsPort, httpsPort } = await startUnbound(identity, RECORDS);
    const clientCertificates = [{ ...trusting(authority, identity), host: '127.0.0.1' }];
    const ask = (request: Partial<DnsRequest>) =>
      probeDns(
        dnsRequestSchema.parse({
          query: 'web.test',
          nameServer: '127.0.0.1',
          serverName: 'dns.test',
          port: fields.protocol === 'DOT' ? tlsPort : httpsPort,
          ...fields,
          ...request,
        }),
        makeContext(),
        {
          ...NO_ROUTE,
          clientCertificates: () => clientCertificates,
          nameServers() {
            throw new Error('the system was not to be asked');
          },
        },
      );

    const outcome = await ask({ recordType: 'MX' });
    expect(outcome.failure).toBeNull();
    expect(outcome.response?.answer.Answer).toMatchObject([{ exchange: 'mail.test.' }]);
    expect(outcome.tls).toMatchObject({
      protocol: 'TLSv1.3',
      authorized: true,
      alpnProtocol,
      certificate: { subjectAltNames: ['dns.test'] },
    });
    const { tcp = 0, tls = 0, query = 0, total } = outcome.timingPhases;
    expect(tcp + tls + query).toBeCloseTo(total, 2);

    expect((await ask({ query: 'none.test' })).response?.responseCode).toBe('NXDOMAIN');
    const big = await ask({ query: 'big.test', recordType: 'TXT' });
    expect(big.response?.answer).toMatchObject({ TC: false });
    expect(big.response?.answer.Answer).toHaveLength(60);
    expect((await ask({ serverName: 'other.test' })).failure?.code).toBe('TLS_HOSTNAME_MISMATCH');
  });
});

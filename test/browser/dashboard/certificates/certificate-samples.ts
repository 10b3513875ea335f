import type {
  CertificateFacts,
  TlsFacts,
} from '../../../../src/model/result/details/check-detail.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { resultOverTls } from '../../../support/samples/tls-results.ts';
import { createAuthority } from '../../../support/servers/certificates.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import { addCheck, addLocations, deliver, runOf, slotAgo } from '../check/check-samples.ts';

const DAY_MS = 86_400_000;

function certificate(name: string, days: number, issuer: string): CertificateFacts {
  return {
    subject: `CN=${name}`,
    issuer,
    subjectAltNames: [name, `www.${name}`, `api.${name}`, `static.${name}`, `img.${name}`],
    validFrom: new Date(Date.now() - 60 * DAY_MS).toISOString(),
    validTo: new Date(Date.now() + days * DAY_MS + DAY_MS / 2).toISOString(),
    daysRemaining: days,
    serialNumber: '04:A1:5C:0F',
    fingerprint256: `FP:${name}`,
  };
}

const LETS_ENCRYPT = "C=US, O=Let's Encrypt, CN=R11";
const URL_CHECKS = [
  ['checkout', 'Checkout', certificate('shop.example.com', 61, LETS_ENCRYPT)],
  ['search', 'Search', certificate('shop.example.com', 61, LETS_ENCRYPT)],
  ['legacy', 'Legacy portal', certificate('legacy.example.com', -2, 'CN=legacy.example.com')],
  ['mail', 'Webmail', certificate('mail.example.com', 12, 'O=Acme Corp, CN=Acme Issuing CA 2')],
  ['partners', 'Portal of the partners', certificate('partners.example.com', 4, LETS_ENCRYPT)],
] as const;

/** Mail after STARTTLS, and a resolver over DOT. */
const OTHER_CHECKS = [
  [
    'smtp',
    'Outgoing mail',
    certificate('smtp.example.com', 25, 'O=Acme Corp, CN=Acme Issuing CA 2'),
    {
      checkType: 'TCP',
      request: {
        hostname: 'smtp.example.com',
        port: 587,
        tls: 'STARTTLS',
        startTlsProtocol: 'SMTP',
      },
    },
  ],
  [
    'resolver',
    'Resolver',
    certificate('dns.example.com', 44, LETS_ENCRYPT),
    {
      checkType: 'DNS',
      request: { query: 'example.com', nameServer: 'dns.example.com', protocol: 'DOT' },
    },
  ],
] as const;

/** Checks of each type that saw certificates of each kind. */
export async function addCertificates(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const keys = await addLocations(account, service, ['berlin']);
  const common = { frequency: 5, privateLocations: ['berlin'] };
  for (const [checkId, name, facts] of URL_CHECKS) {
    const request = { url: `https://${facts.subjectAltNames[0]}/` };
    await addCheck(account, service, checkId, { ...common, name, checkType: 'URL', request });
    const of = { checkId, name, checkType: 'URL', slotMs: slotAgo(1), location: 'berlin' } as const;
    const response = { ...HTTP_RESPONSE, tls: tlsOf(facts) };
    const fields = { responseTime: 80, apiCheckResult: { ...HTTP_DETAIL, response } };
    await deliver(service, keys.berlin ?? '', [runOf(of, fields)]);
  }
  for (const [checkId, name, facts, { checkType, request }] of OTHER_CHECKS) {
    await addCheck(account, service, checkId, { ...common, name, checkType, request });
    const of = { checkId, name, checkType, slotMs: slotAgo(1), location: 'berlin' };
    const fields = { responseTime: 80, ...resultOverTls(checkType, tlsOf(facts)) };
    await deliver(service, keys.berlin ?? '', [runOf(of, fields)]);
  }
}

function tlsOf(facts: CertificateFacts): TlsFacts {
  return {
    protocol: 'TLSv1.3',
    cipher: 'TLS_AES_128_GCM_SHA256',
    alpnProtocol: null,
    authorized: facts.daysRemaining >= 0,
    certificate: facts,
  };
}

/** A certificate for hosts, with its key. */
export async function newIdentity(commonName: string) {
  const authority = await createAuthority('Acme Issuing CA 2');
  return authority.issue({ commonName, names: [`${commonName}.example.com`], validToDays: 40 });
}

/** The same, and client certificates: one is used, one is not. */
export async function addClientCertificates(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  await addCertificates(account, service);
  for (const host of ['*.example.com', 'bank.example.net']) {
    const identity = await newIdentity('vedette-agent');
    const { status, text } = await account.post('/v1/client-certificates', { host, ...identity });
    if (status !== 201) throw new Error(text);
  }
}

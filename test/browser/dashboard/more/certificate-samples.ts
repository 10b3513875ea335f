import type { CertificateFacts } from '../../../../src/model/result/result.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { createAuthority } from '../../../support/servers/certificates.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import { addCheck, addLocations, deliver, runOf, slotAgo } from '../check-data.ts';

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
const SEEN = [
  ['checkout', 'Checkout', certificate('shop.example.com', 61, LETS_ENCRYPT)],
  ['search', 'Search', certificate('shop.example.com', 61, LETS_ENCRYPT)],
  ['legacy', 'Legacy portal', certificate('legacy.example.com', -2, 'CN=legacy.example.com')],
  ['mail', 'Webmail', certificate('mail.example.com', 12, 'O=Acme Corp, CN=Acme Issuing CA 2')],
  ['partners', 'Portal of the partners', certificate('partners.example.com', 4, LETS_ENCRYPT)],
] as const;

/** Checks that saw certificates of each kind. */
export async function addCertificates(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const keys = await addLocations(account, service, ['berlin']);
  for (const [checkId, name, facts] of SEEN) {
    await addCheck(account, service, checkId, {
      name,
      checkType: 'URL',
      frequency: 5,
      privateLocations: ['berlin'],
      request: { url: `https://${facts.subjectAltNames[0]}/` },
    });
    const tls = {
      protocol: 'TLSv1.3',
      cipher: 'TLS_AES_128_GCM_SHA256',
      alpnProtocol: 'h2',
      authorized: facts.daysRemaining >= 0,
      certificate: facts,
    };
    const of = { checkId, name, checkType: 'URL', slotMs: slotAgo(1), location: 'berlin' } as const;
    const response = { ...HTTP_RESPONSE, tls };
    const fields = { responseTime: 80, apiCheckResult: { ...HTTP_DETAIL, response } };
    await deliver(service, keys.berlin ?? '', [runOf(of, fields)]);
  }
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

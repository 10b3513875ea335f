import { isIP } from 'node:net';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { hostKey } from '../../../runtime/net/host-names.ts';

/**
 * The client certificate for a host: one for exactly that name, else one whose `*.` stands for the
 * first label (src/model/README.md, "The check file"), whatever the case of letters and the form of
 * an IPv6 address; null if there is none.
 *
 * @param hostname the host that the check connects to, not the `serverName` of its certificate:
 *   otherwise a check could send the certificate to another host by naming this one
 */
export function clientCertificateFor(
  hostname: string,
  certificates: readonly ClientCertificate[],
): ClientCertificate | null {
  if (certificates.length === 0) return null;
  const name = hostKey(hostname);
  const byHost = (host: string): ClientCertificate | undefined =>
    certificates.find((certificate) => hostKey(certificate.host) === host);
  const exact = byHost(name);
  if (exact !== undefined) return exact;
  const dot = name.indexOf('.');
  if (dot < 1 || isIP(name) !== 0) return null;
  return byHost(`*${name.slice(dot)}`) ?? null;
}

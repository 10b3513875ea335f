import { isIP } from 'node:net';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { plainName } from '../host-key.ts';
import { withoutBrackets } from '../text.ts';

/**
 * The client certificate that is shown to a host: one for exactly that name, else one whose `*.`
 * stands for the name's first label (src/model/README.md, "The check file"), in any case of
 * letters; null where there is none.
 */
export function clientCertificateFor(
  hostname: string,
  certificates: readonly ClientCertificate[],
): ClientCertificate | null {
  if (certificates.length === 0) return null;
  const name = comparable(hostname);
  const byHost = (host: string): ClientCertificate | undefined =>
    certificates.find((certificate) => comparable(certificate.host) === host);
  const exact = byHost(name);
  if (exact !== undefined) return exact;
  const dot = name.indexOf('.');
  if (dot < 1 || isIP(name) !== 0) return null;
  return byHost(`*${name.slice(dot)}`) ?? null;
}

/** Without case, the root's dot and an IPv6 literal's brackets, none of which makes another host. */
function comparable(hostname: string): string {
  return plainName(withoutBrackets(hostname));
}

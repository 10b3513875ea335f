import type { CheckFile } from '../../agent/source/file/check-file.ts';

/** One line about a file's client certificates, which are not applied; null where it has none. */
export function leftOutText({
  clientCertificates,
}: Pick<CheckFile, 'clientCertificates'>): string | null {
  const count = clientCertificates.length;
  if (count === 0) return null;
  const what = count === 1 ? 'the client certificate' : `the ${count} client certificates`;
  return `${what} of the file will not be applied: upload them to the service by /v1/client-certificates (a stand-alone agent, CHECKS_FILE, uses those of the file)`;
}

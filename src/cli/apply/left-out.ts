import type { CheckFile } from '../../agent/source/file/check-file.ts';

/** One line about what is not applied of a file, private keys; null where all is. */
export function leftOutText({
  clientCertificates,
}: Pick<CheckFile, 'clientCertificates'>): string | null {
  const count = clientCertificates.length;
  if (count === 0) return null;
  const what = count === 1 ? 'the client certificate' : `the ${count} client certificates`;
  return `${what} of the file stay out: give the service its own by /v1/client-certificates (a stand-alone agent, CHECKS_FILE, uses those of the file)`;
}

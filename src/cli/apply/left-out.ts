import type { CheckFile } from '../../agent/source/check-file.ts';

/** One line about what a service cannot take of a file; null where it takes all. */
export function leftOutText({
  clientCertificates,
}: Pick<CheckFile, 'clientCertificates'>): string | null {
  const count = clientCertificates.length;
  if (count === 0) return null;
  const what = count === 1 ? 'the client certificate' : `the ${count} client certificates`;
  return `${what} of the file stay out: the service takes none yet, so checks that need one fail (a stand-alone agent, CHECKS_FILE, uses them)`;
}

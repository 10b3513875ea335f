import { countText } from '../../../runtime/text/count-text.ts';
import { wholeUnitText } from '../../../runtime/text/duration-text.ts';
import { shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { Certificate, Subject } from './subject.ts';
import { listText, timeText } from './texts.ts';

const SOON_DAYS = 14;

/** The names of a certificate, without their type prefix. */
export function certificateNames({ subjectAltNames }: Certificate): readonly string[] {
  return subjectAltNames.map((name) => name.replace(/^(?:DNS|IP(?: Address)?):\s*/i, ''));
}

/** Names a certificate in a sentence. */
export function certificateText({ subject, issuer }: Certificate): string {
  return `${shortenedToChars(subject, 200)}, issued by ${shortenedToChars(issuer, 200)}`;
}

/** The time from an instant of the certificate to the run; null if it is no date. */
export function sinceText(isoTime: string, { startedAtMs }: Subject): string | null {
  const ms = Date.parse(isoTime);
  if (Number.isNaN(ms)) return null;
  const byMs = Math.abs(startedAtMs - ms);
  return `on ${timeText(ms)}, ${wholeUnitText(byMs)} ${ms <= startedAtMs ? 'before' : 'after'} this run`;
}

export function isExpired({ validTo }: Certificate, { startedAtMs }: Subject): boolean {
  return Date.parse(validTo) < startedAtMs;
}

/** Sentences about the server's certificate. */
export function certificateSentences(
  certificate: Certificate,
  subject: Subject,
  { surroundings }: AnalysisInput,
): readonly string[] {
  const { validFrom, validTo, daysRemaining } = certificate;
  const names = certificateNames(certificate);
  const left = isExpired(certificate, subject)
    ? `it expired ${sinceText(validTo, subject) ?? 'at a time that cannot be read'}`
    : `${countText(daysRemaining, 'day')} remained`;
  const sentences = [
    `The server showed the certificate ${certificateText(certificate)}, valid from ${validFrom} to ${validTo}: ${left}.`,
    names.length === 0
      ? 'It names no host among its alternative names (SANs).'
      : `It is for ${listText(names)}.`,
  ];
  if (!isExpired(certificate, subject) && daysRemaining <= SOON_DAYS) {
    sentences.push('It expires soon: renew it before that becomes the next failure.');
  }
  const last = surroundings.passed.find(({ fingerprint }) => fingerprint !== null);
  if (last !== undefined) {
    const isSame = last.fingerprint === certificate.fingerprint256;
    sentences.push(
      isSame
        ? `The last run that passed, of ${timeText(last.slotMs)}, saw the same certificate.`
        : `The last run that passed, of ${timeText(last.slotMs)}, saw another certificate, issued by ${shortenedToChars(last.issuer ?? 'an unknown issuer', 200)}: it was replaced since.`,
    );
  }
  return sentences;
}

import { cutText } from '../../runtime/text/cut-text.ts';

/** A text with the secrets masked that are whole in it. */
export type Scrub = (text: string) => string;

/** For texts that contain no secret, and for those that only the operator sees. */
export const NOT_SCRUBBED: Scrub = (text) => text;

/** This much behind a cut is scrubbed as well. Hardly any secret is longer, in any form. */
export const MARGIN_CHARS = 8 * 1024;

/** The mark of a text that was cut. */
const CUT_MARK = '…';

/** The text up to its limit, with a mark at the end where it was cut. */
export function shortenedText(text: string, maxChars: number, scrub: Scrub): string {
  if (text.length <= maxChars) return text;
  return shortenedReadable(text, maxChars, scrub, (scrubbed) => scrubbed);
}

/**
 * The same of a text of which some characters are replaced, for people to read. It is scrubbed before,
 * however short it is: no secret is found where its own characters were replaced.
 */
export function shortenedReadable(
  text: string,
  maxChars: number,
  scrub: Scrub,
  replace: (text: string) => string,
): string {
  const shown = replace(scrubbedStart(text, maxChars, true, scrub));
  const isCut = shown.length > maxChars || text.length > maxChars + MARGIN_CHARS;
  return isCut ? `${shown.slice(0, maxChars)}${CUT_MARK}` : shown;
}

/**
 * The start of a text, of at most so many bytes in UTF-8. It is scrubbed first where it is cut, as half
 * of a secret would be masked nowhere. The same text where it is short enough.
 *
 * @param isWhole whether the text ends where it ended
 */
export function cutScrubbed(
  text: string,
  maxBytes: number,
  { scrub, isWhole = true }: { readonly scrub: Scrub; readonly isWhole?: boolean },
): string {
  if (isWhole && cutText(text, maxBytes).length === text.length) return text;
  return cutText(scrubbedStart(text, maxBytes, isWhole, scrub), maxBytes);
}

/** Without the margin, in which a secret may be cut in two. */
function scrubbedStart(text: string, maxChars: number, isWhole: boolean, scrub: Scrub): string {
  const looked = text.slice(0, maxChars + MARGIN_CHARS);
  const scrubbed = scrub(looked);
  if (isWhole && looked.length === text.length) return scrubbed;
  // Masks are shorter than secrets: what stands before the limit now may have been behind it.
  const marginChars = Math.min(MARGIN_CHARS, Math.max(0, looked.length - maxChars));
  return scrubbed.slice(0, Math.max(0, scrubbed.length - marginChars));
}

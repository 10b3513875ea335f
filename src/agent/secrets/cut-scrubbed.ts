import { cutText } from '../../runtime/text/cut-text.ts';

/** Masks the secrets that a text contains completely. */
export type Scrub = (text: string) => string;

/** For texts without secrets, and for texts that only the operator sees. */
export const NOT_SCRUBBED: Scrub = (text) => text;

/** Characters after the cut that are scrubbed too. Hardly any secret is longer in any form. */
export const MARGIN_CHARS = 8 * 1024;

/** Ends a text that was cut. */
const CUT_MARK = '…';

/** The text, scrubbed and cut if it is longer than the limit. */
export function shortenedText(text: string, maxChars: number, scrub: Scrub): string {
  if (text.length <= maxChars) return text;
  return shortenedReadable(text, maxChars, scrub, (scrubbed) => scrubbed);
}

/**
 * Like `shortenedText`, and `replace` makes characters readable. Scrubs before `replace`, also
 * short texts: a secret with replaced characters would not be found.
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
 * The start of a text, at most `maxBytes` in UTF-8; the same text if it is short enough. A text to
 * be cut is scrubbed first, because half of a secret would not be masked.
 *
 * @param isWhole whether the text was not cut before
 */
export function cutScrubbed(
  text: string,
  maxBytes: number,
  { scrub, isWhole = true }: { readonly scrub: Scrub; readonly isWhole?: boolean },
): string {
  if (isWhole && cutText(text, maxBytes).length === text.length) return text;
  return cutText(scrubbedStart(text, maxBytes, isWhole, scrub), maxBytes);
}

/** The scrubbed start, without the margin, which may end with a part of a secret. */
function scrubbedStart(text: string, maxChars: number, isWhole: boolean, scrub: Scrub): string {
  const start = text.slice(0, maxChars + MARGIN_CHARS);
  const scrubbed = scrub(start);
  if (isWhole && start.length === text.length) return scrubbed;
  // Masks are shorter than secrets, so text from behind the limit may have moved before it.
  const marginChars = Math.min(MARGIN_CHARS, Math.max(0, start.length - maxChars));
  return scrubbed.slice(0, Math.max(0, scrubbed.length - marginChars));
}

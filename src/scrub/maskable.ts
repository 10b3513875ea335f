/** src/scrub/README.md, "What is masked, and where". */
const MIN_CHARS = 4;

/** Never masked, even if declared secret; case-insensitive. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined', 'none']);
/** `http://` and the like. */
const SCHEME_ALONE = /^[a-z][a-z0-9+.-]{0,9}:\/\/$/i;

/** Without letters and digits, fewer different characters are a line or a frame: `----`, `/*`. */
const MIN_DIFFERENT_SIGNS = 3;

/**
 * Whether a value is rare enough to mask every occurrence of it (src/scrub/README.md, "What is
 * masked, and where"): at least four characters, not a common word such as `true`, not the scheme
 * of a URL, not a run of one or two punctuation characters.
 */
export function isMaskable(value: string): boolean {
  // A character takes at most two UTF-16 units.
  if (value.length < MIN_CHARS * 2 && [...value].length < MIN_CHARS) return false;
  if (PLAIN_WORDS.has(value.toLowerCase()) || SCHEME_ALONE.test(value)) return false;
  if (/[\p{L}\p{N}]/u.test(value)) return true;
  const signs = new Set(value);
  return [...signs].filter((sign) => sign.trim() !== '').length >= MIN_DIFFERENT_SIGNS;
}

/** In characters, as src/scrub/README.md, "What is masked, and where" has it. */
const MIN_CHARS = 4;

/** Never secrets, even if declared so; case-insensitive. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'undefined', 'none']);
/** `http://` and the like. */
const SCHEME_ALONE = /^[a-z][a-z0-9+.-]{0,9}:\/\/$/i;

/** Fewer different ones, and no letter or digit among them, are a line or a frame: `----`, `/*`. */
const MIN_DIFFERENT_SIGNS = 3;

/**
 * Whether every occurrence of a value may be masked without masking half of a text
 * (src/scrub/README.md, "What is masked, and where"): at least four characters, and neither a word
 * of every program, nor the beginning of an address, nor a run of one or two punctuation
 * characters.
 */
export function isMaskable(value: string): boolean {
  // So many units are enough characters even if each took two.
  if (value.length < MIN_CHARS * 2 && [...value].length < MIN_CHARS) return false;
  if (PLAIN_WORDS.has(value.toLowerCase()) || SCHEME_ALONE.test(value)) return false;
  if (/[\p{L}\p{N}]/u.test(value)) return true;
  const signs = new Set(value);
  return [...signs].filter((sign) => sign.trim() !== '').length >= MIN_DIFFERENT_SIGNS;
}

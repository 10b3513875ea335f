import { parsePattern, patternParts } from '../../../model/check/expressions.ts';

const MAX_CHARS = 1024;
/** Syntax of Go (RE2) that JavaScript lacks or interprets differently. */
const NOT_TRANSLATED = /\\[QECpPx]|\[\[:|\(\?[a-zA-Z-]+[:)]/;
const FLAGS = /^\(\?[ims]+\)/;

/**
 * Translates a regular expression of Go to JavaScript, with its flags at the start.
 *
 * @returns null if it has no translation
 */
export function patternFromGo(text: string): string | null {
  const flags = FLAGS.exec(text)?.[0] ?? '';
  const body = text.slice(flags.length);
  if (text.length > MAX_CHARS || NOT_TRANSLATED.test(body)) return null;
  // With the flag m, neither `^` nor `$` is the start or end of the text alone.
  if (flags.includes('m') && /\\[Az]/.test(body)) return null;
  const pattern = body.replaceAll('(?P<', '(?<').replaceAll('\\A', '^').replaceAll('\\z', '$');
  return typeof parsePattern(flags + pattern) === 'string' ? null : flags + pattern;
}

/**
 * Wraps a pattern that has groups in another group: an assertion compares the first group, which may otherwise not
 * take part in a match.
 */
export function wholeMatch(pattern: string): string {
  const { source } = patternParts(pattern);
  const flags = pattern.slice(0, pattern.length - source.length);
  return /\((?!\?[:=!])/.test(source) ? `${flags}(${source})` : pattern;
}

/** Converts a pattern for one line to a pattern for a text of several lines. */
export function lineInText(pattern: string): string {
  const { source } = patternParts(pattern);
  const flags = pattern.slice(0, pattern.length - source.length);
  const isAnchored = source.startsWith('^') && !source.includes('|');
  const start = isAnchored ? `(?:^|\\n)${source.slice(1)}` : source;
  const whole = /(?<!\\)\$$/.test(start) ? `${start.slice(0, -1)}(?=\\r?\\n|$)` : start;
  return flags + whole;
}

/** `*` for any text, `?` for any character; the whole text must match. */
export function patternFromGlob(glob: string): string {
  const parts = glob.split(/([*?])/).map((part) => {
    if (part === '*') return '[\\s\\S]*';
    return part === '?' ? '[\\s\\S]' : escapedPattern(part);
  });
  return `^${parts.join('')}$`;
}

export function escapedPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

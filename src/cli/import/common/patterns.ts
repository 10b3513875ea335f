import { parsePattern } from '../../../model/check/expressions.ts';

const MAX_CHARS = 1024;
/** What Go's syntax (RE2) has and JavaScript's without flags has not, or reads in another way. */
const NOT_TRANSLATED = /\\[QECpPx]|\[\[:|\(\?[a-zA-Z-]*[msU-][a-zA-Z-]*[:)]|\(\?i:/;

/**
 * A regular expression of Go as one of JavaScript without flags. `(?i)` at the start becomes both
 * cases of each letter.
 *
 * @returns null if it has no translation
 */
export function patternFromGo(text: string): string | null {
  const isAnyCase = text.startsWith('(?i)');
  const body = isAnyCase ? text.slice('(?i)'.length) : text;
  if (text.length > MAX_CHARS || NOT_TRANSLATED.test(body) || body.includes('(?i)')) return null;
  const plain = body.replaceAll('(?P<', '(?<').replaceAll('\\A', '^').replaceAll('\\z', '$');
  const pattern = isAnyCase ? inAnyCase(plain) : plain;
  return typeof parsePattern(pattern) === 'string' ? null : pattern;
}

/**
 * The pattern with its first group around all of it if it has groups: an assertion compares the
 * first group, which need not take part in a match.
 */
export function wholeMatch(pattern: string): string {
  return /\((?!\?[:=!])/.test(pattern) ? `(${pattern})` : pattern;
}

/** A pattern for one line, as one for a text of several lines. */
export function lineInText(pattern: string): string {
  const isAnchored = pattern.startsWith('^') && !pattern.includes('|');
  const start = isAnchored ? `(?:^|\\n)${pattern.slice(1)}` : pattern;
  return /(?<!\\)\$$/.test(start) ? `${start.slice(0, -1)}(?=\\r?\\n|$)` : start;
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

/** Letters outside of escapes; in a class `a-z` is followed by `A-Z`. */
function inAnyCase(pattern: string): string {
  let result = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === '\\') {
      result += pattern.slice(at, at + 2);
      at += 1;
      continue;
    }
    // The name of a group is no text.
    const name = /^\(\?<[A-Za-z]\w*>/.exec(pattern.slice(at))?.[0];
    if (name !== undefined && !isInClass) {
      result += name;
      at += name.length - 1;
      continue;
    }
    if (char === '[') isInClass = true;
    else if (char === ']') isInClass = false;
    const range = isInClass ? /^[a-zA-Z]-[a-zA-Z]/.exec(pattern.slice(at))?.[0] : undefined;
    if (range !== undefined) {
      result += range.toLowerCase() + range.toUpperCase();
      at += range.length - 1;
    } else if (/[a-zA-Z]/.test(char)) {
      const both = char.toLowerCase() + char.toUpperCase();
      result += isInClass ? both : `[${both}]`;
    } else {
      result += char;
    }
  }
  return result;
}

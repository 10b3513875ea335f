import { parsePattern } from '../../model/check/expressions.ts';
import { LruCache } from '../../runtime/lru-cache.ts';

const compiled = new LruCache<RegExp | string>(500);

/**
 * The compiled regular expression (ECMAScript, with flags at its start), or the problem with it.
 */
export function compilePattern(text: string): RegExp | string {
  return compiled.getOrMake(text, () => parsePattern(text));
}

/**
 * The first capture group of the first match, or the whole match if the pattern has no group; null
 * if nothing matches, or if the group did not participate in the match.
 */
export function firstMatch(pattern: RegExp, text: string): string | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  return (match.length > 1 ? match[1] : match[0]) ?? null;
}

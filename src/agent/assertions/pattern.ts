import { messageOf } from '../../runtime/errors.ts';
import { LruCache } from '../../runtime/lru-cache.ts';

const compiled = new LruCache<RegExp | string>(500);

/** The compiled regular expression (ECMAScript, without flags), or the problem with it. */
export function compilePattern(text: string): RegExp | string {
  return compiled.getOrMake(text, () => {
    try {
      return new RegExp(text);
    } catch (thrown) {
      return messageOf(thrown);
    }
  });
}

/** The problem with a regular expression, for the validation of checks; null if there is none. */
export function patternProblem(text: string): string | null {
  const pattern = compilePattern(text);
  return typeof pattern === 'string' ? pattern : null;
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

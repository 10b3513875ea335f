import { messageOf } from '../../runtime/errors.ts';
import { BoundedCache } from './bounded-cache.ts';

const compiled = new BoundedCache<RegExp | string>(500);

/** The compiled regular expression (ECMAScript, without flags), or what is wrong with it. */
export function compilePattern(text: string): RegExp | string {
  return compiled.getOrMake(text, () => {
    try {
      return new RegExp(text);
    } catch (thrown) {
      return messageOf(thrown);
    }
  });
}

/** What is wrong with a regular expression, for the validation of checks; null where nothing is. */
export function patternProblem(text: string): string | null {
  const pattern = compilePattern(text);
  return typeof pattern === 'string' ? pattern : null;
}

/**
 * The first capture group of the first match, or the whole match where the pattern has no group;
 * null where nothing matches, or where the group has no part in the match.
 */
export function firstMatch(pattern: RegExp, text: string): string | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  return (match.length > 1 ? match[1] : match[0]) ?? null;
}

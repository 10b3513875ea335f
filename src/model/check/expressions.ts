import { JSONPathEnvironment, type JSONPathQuery } from 'json-p3';

/** The users' expressions in assertions (src/model/README.md, "Assertions"). */

/** Maximum depth for `..`: deeper documents are rejected, not searched in part. */
const MAX_DEPTH = 1000;

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });

/**
 * The flags that may be at the start of a pattern, as `(?im)`. No pattern of ECMAScript begins so.
 */
export const PATTERN_FLAGS = 'imsu';
const FLAGS = new RegExp(`^\\(\\?([${PATTERN_FLAGS}]+)\\)`);
const OTHER_FLAGS = /^\(\?[A-Za-z-]+\)/;

interface PatternParts {
  /** Letters of PATTERN_FLAGS; empty for none. */
  readonly flags: string;
  /** What follows the flags. */
  readonly source: string;
}

/** A user's pattern without its flags: `(?i)ready` has the flag `i`. */
export function patternParts(text: string): PatternParts {
  const [start = '', flags = ''] = FLAGS.exec(text) ?? [];
  return { flags, source: text.slice(start.length) };
}

/** The regular expression (ECMAScript, with flags at its start), or the problem with it. */
export function parsePattern(text: string): RegExp | string {
  if (OTHER_FLAGS.test(text) && !FLAGS.test(text)) {
    return `Flags at its start may be ${[...PATTERN_FLAGS].join(', ')}`;
  }
  const { flags, source } = patternParts(text);
  if (new Set(flags).size < flags.length) return 'A flag is given twice';
  try {
    return new RegExp(source, flags);
  } catch (thrown) {
    // V8 repeats the pattern, which may be long.
    return messageOf(thrown).replace(`Invalid regular expression: /${source}/${flags}: `, () => '');
  }
}

/** The JSONPath (RFC 9535), or the problem with it. */
export function parseJsonPath(text: string): JSONPathQuery | string {
  try {
    return environment.compile(text);
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

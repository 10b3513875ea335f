import { MAX_DEPTH } from '../../common/document-depth.ts';

const QUOTE = '"';
const BACKSLASH = 92;

/**
 * Parses plain JSON that means the same as YAML: without repeated keys and not nested too deeply.
 * Takes a fraction of the time of the YAML parser.
 *
 * @returns null for any other text: the YAML parser parses it, or reports its problems
 */
export function readPlainJson(text: string): { readonly value: unknown } | null {
  // The first character excludes most texts that are not JSON.
  if (!/^\s*\{/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  // JSON.parse drops all but the last value of a repeated key, so there are fewer keys then.
  return countKeys(value, 0) === countWrittenKeys(text) ? { value } : null;
}

/** The number of keys of all mappings in it; NaN if it is nested too deeply. */
function countKeys(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_DEPTH) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item, depth + 1);
    return count;
  }
  for (const item of Object.values(value)) count += 1 + countKeys(item, depth + 1);
  return count;
}

/** The number of strings followed by a colon in a valid JSON text. */
function countWrittenKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf(QUOTE); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    at = endOfString(text, at);
    let next = at + 1;
    while (text.charCodeAt(next) <= 32) next += 1;
    if (text[next] === ':') count += 1;
  }
  return count;
}

/** The position of the closing quote of the string at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); ; end = text.indexOf(QUOTE, end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    // The first of two backslashes escapes the second.
    if ((end - first) % 2 === 0) return end;
  }
}

import type { Scrubber } from './scrubber.ts';

/** Between two texts: no reading of a secret goes across a control character that is no blank. */
const BORDER = '\u0001';
/** What is longer altogether is looked at text by text. */
const MAX_CHARS = 16_384;

/**
 * Whether no text inside of a value holds a secret. One search looks through all of them together: most
 * results hold none, and a search for each of a hundred short texts takes much longer. False where that is
 * not certain.
 *
 * @param records fields whose own fields others chose the names of: those names are texts, too
 */
export function containsNoSecret(
  value: unknown,
  scrubber: Scrubber,
  records: ReadonlySet<string>,
): boolean {
  const texts: string[] = [];
  const chars = collect(value, false, { texts, records });
  if (chars > MAX_CHARS) return false;
  return !scrubber.holdsKnown(texts.join(BORDER));
}

interface Collected {
  readonly texts: string[];
  readonly records: ReadonlySet<string>;
}

/** Adds the texts; returns their number of characters, or more than MAX_CHARS. */
function collect(value: unknown, isRecord: boolean, to: Collected): number {
  if (typeof value === 'string') {
    to.texts.push(value);
    return value.length + 1;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let chars = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      chars += collect(item, false, to);
      if (chars > MAX_CHARS) return chars;
    }
    return chars;
  }
  for (const name in value) {
    if (isRecord) {
      to.texts.push(name);
      chars += name.length + 1;
    }
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    chars += collect(inner, to.records.has(name), to);
    if (chars > MAX_CHARS) return chars;
  }
  return chars;
}

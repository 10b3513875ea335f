import type { Scrubber } from './scrubber.ts';

/** Separates the texts: no escape and no run of digits continues across it. */
const BORDER = '\u0001';
/** Longer texts in total are searched one by one. */
const MAX_CHARS = 16_384;

/**
 * Whether no text in a value contains a secret; false if that is uncertain. Searches all texts at
 * once: most results contain no secret, and a hundred searches of short texts take much longer.
 *
 * @param records names of fields that are records: their keys, which checks or targets chose, are
 *   searched, too
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

/** Adds the texts. Returns the number of their characters, or a number above MAX_CHARS. */
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

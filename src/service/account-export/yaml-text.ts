import { Document, visit } from 'yaml';
import type { Entry } from './entries.ts';
import { PLACEHOLDER } from './placeholders.ts';

const LINE_CHARS = 98;
const COMMENT = ' put the value here, or {{NAME}} and a variable';

interface Scalar {
  readonly value?: unknown;
  comment?: string | null;
}

/** A section of a check file as YAML; empty without entries. Ends with a line feed. */
export function sectionText(name: string, entries: readonly Entry[]): string {
  if (entries.length === 0) return '';
  // Serializes entry by entry: one document with 100,000 checks would take gigabytes of memory.
  return `${name}:\n${entries.map(entryText).join('')}`;
}

/** A field of a check file as YAML. Ends with a line feed. */
export function fieldText(name: string, value: Entry): string {
  return new Document({ [name]: value }).toString({ lineWidth: LINE_CHARS });
}

function entryText(entry: Entry): string {
  const document = new Document([entry], { aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, pair) {
      const value = pair.value as Scalar | null;
      if (typeof value?.value === 'string' && value.value.includes(PLACEHOLDER)) {
        value.comment = COMMENT;
      }
    },
  });
  // Block literals are not folded: the library treats U+2028 as a line end and would add a line feed there.
  const text = document.toString({ lineWidth: LINE_CHARS, blockQuote: 'literal' });
  // Indents by two more spaces, which does not change a value (YAML 1.2.2, 8.1.1.1). Matches line feeds
  // explicitly: with the flag m, U+2028 and U+2029 would also begin a line, which they do not in YAML 1.2 (5.4).
  return text.replaceAll(/(^|\n)(?=[^\n])/g, '$1  ');
}

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
  // One by one: a document of 100,000 checks would take gigabytes.
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
  // Not folded: the library takes U+2028 for the end of an indented line, and would add a line feed there.
  const text = document.toString({ lineWidth: LINE_CHARS, blockQuote: 'literal' });
  // Deeper by two, which changes no value: YAML 1.2.2, 8.1.1.1. Only a line feed begins a line in YAML 1.2
  // (5.4); in JavaScript, U+2028 and U+2029 do, too.
  return text.replaceAll(/(^|\n)(?=[^\n])/g, '$1  ');
}

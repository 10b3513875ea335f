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
  // Deeper by two, which changes no value: YAML 1.2.2, 8.1.1.1.
  return document.toString({ lineWidth: LINE_CHARS }).replaceAll(/^(?=.)/gm, '  ');
}

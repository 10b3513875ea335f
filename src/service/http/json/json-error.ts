/** The position of a syntax error in JSON, and what is allowed there. Contains nothing of the text itself. */
export interface JsonError {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** For example `a comma or }`. */
  readonly expected: string;
}

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a name in double quotes'
  | 'a name in double quotes or }'
  | 'a colon'
  | 'a comma or ]'
  | 'a comma or }'
  | 'the end';

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Finds the first error in a text that JSON.parse refuses (RFC 8259); null for valid JSON. */
export function findJsonError(text: string): JsonError | null {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'a value';
  let at = 0;
  const error = (offset: number, what: string): JsonError => {
    const lines = text.slice(0, offset).split('\n');
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, expected: what };
  };
  const afterValue = (): Expected => {
    const inner = open.at(-1);
    return inner === undefined ? 'the end' : inner === '[' ? 'a comma or ]' : 'a comma or }';
  };
  for (;;) {
    at = endOf(BLANK, text, at) ?? at;
    const character = text[at];
    if (character === undefined) return expected === 'the end' ? null : error(at, expected);
    const closes = expected.endsWith(character) && (character === ']' || character === '}');
    if (closes) {
      open.pop();
      at += 1;
      expected = afterValue();
    } else if (expected === 'a colon' && character === ':') {
      at += 1;
      expected = 'a value';
    } else if (expected.startsWith('a comma') && character === ',') {
      at += 1;
      expected = open.at(-1) === '[' ? 'a value' : 'a name in double quotes';
    } else if (expected.startsWith('a name') && character === '"') {
      const end = endOfText(text, at);
      if (!end.ok) return error(end.at, end.expected);
      at = end.at;
      expected = 'a colon';
    } else if (!expected.startsWith('a value')) {
      return error(at, expected);
    } else if (character === '[' || character === '{') {
      open.push(character);
      at += 1;
      expected = character === '[' ? 'a value or ]' : 'a name in double quotes or }';
    } else if (character === '"') {
      const end = endOfText(text, at);
      if (!end.ok) return error(end.at, end.expected);
      at = end.at;
      expected = afterValue();
    } else {
      const end = endOf(WORD, text, at) ?? endOf(NUMBER, text, at);
      if (end === null) return error(at, expected);
      at = end;
      expected = afterValue();
    }
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

type EndOfText =
  | { readonly ok: true; readonly at: number }
  | { readonly ok: false; readonly at: number; readonly expected: string };

/** @param from the offset of the opening quote */
function endOfText(text: string, from: number): EndOfText {
  let at = from + 1;
  for (;;) {
    const character = text[at];
    if (character === undefined) return { ok: false, at, expected: 'a closing double quote' };
    if (character === '"') return { ok: true, at: at + 1 };
    if (character < ' ') return { ok: false, at, expected: 'an escape such as \\n' };
    const next = character === '\\' ? endOf(ESCAPE, text, at) : at + 1;
    if (next === null) return { ok: false, at, expected: 'a valid escape such as \\n or \\\\' };
    at = next;
  }
}

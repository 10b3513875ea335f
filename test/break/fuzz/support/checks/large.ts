import { VALUES } from './seeds.ts';
import type { CheckText } from './texts.ts';

const MIB = 1024 * 1024;
/** The maximal length of a check file. */
const MAX_CHARS = 32 * MIB;

/** Repeats the piece between a beginning and an end. */
function filled(piece: string, chars: number, beginning = '', end = ''): string {
  const times = Math.floor((chars - beginning.length - end.length) / piece.length);
  return beginning + piece.repeat(times) + end;
}

/** As many different pieces as fit. */
function numbered(make: (number: number) => string, chars: number, beginning = ''): string {
  const pieces = [beginning];
  let length = beginning.length;
  for (let number = 0; ; number += 1) {
    const piece = make(number);
    length += piece.length;
    if (length > chars) return pieces.join('');
    pieces.push(piece);
  }
}

const CHECK = '{"id":"a","checkType":"API","request":{"url":"http://a/"';
const yaml = (text: string): CheckText => ({ text, extension: 'yaml', isMarked: false });

/** The longest file that is read without a separate thread, or one with a very long line. */
export const LARGE_TEXTS: readonly CheckText[] = [
  filled('x', MIB),
  filled('x', MIB, 'checks: "', '"'),
  filled(' ', MIB, 'checks:'),
  filled('\t', MIB),
  filled('#', MIB),
  filled('x', MIB, `{"checks":[${CHECK},"body":"`, '"}}]}'),
  filled('\\u0041', MIB, `{"checks":[${CHECK},"body":"`, '"}}]}'),
  filled('}', 64 * 1024),
  filled(',', 64 * 1024, '['),
  filled('\\q', 64 * 1024, 'checks: "', '"'),
  filled('!x ', 64 * 1024),
  filled('...\n', 64 * 1024),
  filled('%YAML 1.1\n', 64 * 1024),
  filled('\n', 64 * 1024, 'checks: >\n  a\n'),
  filled('\r', 64 * 1024, 'checks:'),
  filled('*a,', 64 * 1024, 'a: &a x\nchecks: [', ']'),
  filled('&a ', 64 * 1024, 'checks: '),
  filled('a\n\n b\n', 64 * 1024),
  filled('? ', 64 * 1024),
  numbered((number) => `"k${number}":1,`, 48 * 1024, `{"checks":[${CHECK}},`),
  numbered((number) => `k${number}: 1\n`, 64 * 1024),
  numbered((number) => `- { frequencyOffse${number}: 1 }\n`, 48 * 1024, 'checks:\n'),
].map(yaml);

const FILLERS = ['a', '{{', '://', '@', '.', ':', '[', '(', '\\', '-', '0', ' ', '\n', 'é', '$.a'];
const LONG_CHARS = 256 * 1024;

/** Files with each of their texts replaced by a very long one. */
export function longTexts(): CheckText[] {
  return VALUES.flatMap((file) =>
    pathsOfTexts(file).map((path, index) => {
      const value = structuredClone(file);
      const above = path.slice(0, -1);
      const holder = above.reduce<unknown>((at, step) => Reflect.get(Object(at), step), value);
      const filler = FILLERS[index % FILLERS.length] ?? 'a';
      Reflect.set(Object(holder), path.at(-1) ?? '', filled(filler, LONG_CHARS));
      return yaml(JSON.stringify(value));
    }),
  );
}

function pathsOfTexts(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => pathsOfTexts(inner, [...path, key]));
}

export interface LargeFile {
  readonly name: string;
  readonly make: () => string;
}

const large = (name: string, make: () => string): LargeFile => ({ name, make });

/** They are refused early. */
export const HOSTILE_FILES: readonly LargeFile[] = [
  large('one enormous text', () => filled('x', MAX_CHARS, 'checks: "', '"')),
  large('one enormous folded text', () => filled('  x\n', MAX_CHARS, 'checks: >\n')),
  large('deep nesting', () => filled('[', MAX_CHARS)),
  large('nothing but closing brackets', () => filled('}', MAX_CHARS)),
  large('escapes that are none', () => filled('\\q', MAX_CHARS, 'checks: "', '"')),
  large('nothing but ends of documents', () => filled('...\n', MAX_CHARS)),
];

/** These contain only what is allowed, but too much of it. */
export const HUNGRY_FILES: readonly LargeFile[] = [
  large('a million anchors', () =>
    numbered((number) => `- &a${number} x\n`, MAX_CHARS, 'checks:\n'),
  ),
  large('a million checks', () =>
    numbered(
      (number) => `- {id: a${number}, checkType: TCP, request: {hostname: h, port: 1}}\n`,
      MAX_CHARS,
      'checks:\n',
    ),
  ),
];

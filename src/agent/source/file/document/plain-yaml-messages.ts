import { MAX_DEPTH } from '../../common/document-depth.ts';
import type { YamlProblem } from './yaml-problems.ts';

const INDENTATION = 'this line is not indented like the lines that it belongs to';

/** The library's messages in terms of people who write a file. */
const PLAIN_WORDS: ReadonlyMap<string, string> = new Map([
  ['All mapping items must start at the same column', INDENTATION],
  ['All sequence items must start at the same column', INDENTATION],
  ['Sequence item without - indicator', INDENTATION],
  ['A block sequence may not be used as an implicit map key', INDENTATION],
  [
    'Nested mappings are not allowed in compact mappings',
    'a key follows on a value here: indent the next line less or, where the text contains a colon, put it in quotes',
  ],
  [
    'Implicit keys need to be on a single line',
    'this is neither a key with its colon nor a value: put a colon and a space after a key',
  ],
  [
    'Implicit map keys need to be followed by map values',
    'a key must be followed by a colon and a space',
  ],
  ['With stringKeys, all keys must be strings', 'a key must be text'],
  ['Flow map must end with a }', 'a { is not closed by a }'],
  ['Flow sequence must end with a ]', 'a [ is not closed by a ]'],
  [
    'Flow map in block collection must be sufficiently indented and end with a }',
    'a { is not closed by a }, or what it contains is not indented enough',
  ],
  [
    'Flow sequence in block collection must be sufficiently indented and end with a ]',
    'a [ is not closed by a ], or what it contains is not indented enough',
  ],
  [
    'Block collections are not allowed within flow collections',
    'a comma, a closing bracket or quotes are missing',
  ],
  ['Missing closing "quote', 'a " is not closed'],
  ["Missing closing 'quote", "a ' is not closed"],
]);

/** A problem of the parser in plain words, if there are any. */
export function plainWords({ code, message }: YamlProblem): string {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return 'a second document starts here, and a check file contains one';
    case 'TOO_DEEP':
      return `the value is nested deeper than ${MAX_DEPTH} levels`;
    case 'TOO_MANY_PIECES':
      return 'the file is too long for one: it has too many values and lines up to here; split it';
    case 'TOO_LONG_PIECE':
      return 'a text or a comment that starts here is longer than any field takes';
    case 'TAG_RESOLVE_FAILED':
      return 'tags such as !name are not supported';
    case 'BAD_SCALAR_START':
      return `text that starts with ${message.at(-1)} must be in quotes`;
    case 'BAD_DIRECTIVE':
      return 'a line that starts with % is a directive, and this one is not supported';
    // The library shows up to ten characters of it, which may be a part of a secret.
    case 'BAD_DQ_ESCAPE':
      return 'a backslash between " and " begins no escape sequence that YAML has: write \\\\ or use single quotes';
    // These messages may end with a part of the text, which may be a secret.
    case 'UNEXPECTED_TOKEN':
      return message.split(':', 1)[0] ?? message;
    default: {
      const [line = message] = message.split('\n', 1);
      return PLAIN_WORDS.get(line) ?? line;
    }
  }
}

import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import { MAX_DEPTH } from '../../common/document-depth.ts';
import { type YamlProblem, YamlProblems } from './yaml-problems.ts';

/** Entries on the parser's stack besides the collections: the document and the current value. */
const MAX_STACK = MAX_DEPTH + 4;
/**
 * Maximum number of tokens. 100,000 checks with one line per field have ten million; each token
 * takes about 2 µs and 200 bytes, so a file of punctuation only must be bounded.
 */
const MAX_TOKENS = 16_000_000;
/** Maximum length of one text in the file. The longest field of a check is far shorter. */
const MAX_TOKEN_CHARS = 4 * 1024 * 1024;

/**
 * Parses a text as one YAML 1.2 document, in time and memory linear in its length.
 *
 * The library's own `parseDocument` recurses as deep as a text is nested, until the stack ends.
 * There V8 may need stack to compile a regular expression, and then ends the process. Therefore the
 * depth is checked token by token.
 *
 * @param tags whether `!!binary` is read, as bytes; no other tag ever is
 */
export function parseYaml(
  text: string,
  tags: 'none' | 'binary' = 'none',
): {
  readonly contents: unknown;
  readonly problems: readonly YamlProblem[];
} {
  const problems = new YamlProblems();
  const document = problems.upToEnough(() => firstDocument(text, tags, problems));
  return { contents: document?.contents ?? null, problems: problems.list };
}

function firstDocument(
  text: string,
  tags: 'none' | 'binary',
  problems: YamlProblems,
): Document.Parsed | null {
  const composer = new Composer({
    prettyErrors: false,
    stringKeys: true,
    // The library compares every key with every other; PlainConverter's map does not.
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    ...(tags === 'binary' ? { customTags: ['binary'] } : {}),
  });
  // The library makes an Error with a stack for each: 1.4 KB and 10 µs, possibly a million times.
  Reflect.set(composer, 'onError', (source: Source, code: string, message: string) =>
    problems.add(offsetOf(source), code, message),
  );
  let first: Document.Parsed | null = null;
  for (const document of composer.compose(tokensOf(text, problems), true, text.length)) {
    if (first !== null) {
      problems.add(document.range[0], 'MULTIPLE_DOCS');
      break;
    }
    first = document;
  }
  return first;
}

/** The forms of a position in the library's problems. */
type Source = number | readonly [number, ...unknown[]] | { readonly offset: number };

function offsetOf(source: Source): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : source[0];
}

function* tokensOf(text: string, problems: YamlProblems): Generator<CST.Token, void> {
  const parser = new Parser();
  let hasDocument = false;
  let pieces = 0;
  for (const lexeme of new Lexer().lex(text)) {
    pieces += 1;
    if (pieces > MAX_TOKENS) return problems.add(parser.offset, 'TOO_MANY_PIECES');
    if (lexeme.length > MAX_TOKEN_CHARS) return problems.add(parser.offset, 'TOO_LONG_PIECE');
    for (const token of parser.next(lexeme)) {
      // The composer would make an Error of it, as above.
      if (token.type === 'error') problems.add(token.offset, 'UNEXPECTED_TOKEN', token.message);
      else if (token.type === 'doc-end' && !hasDocument) {
        problems.add(token.offset, 'UNEXPECTED_TOKEN', 'Unexpected doc-end');
      } else yield token;
      hasDocument ||= token.type === 'document';
    }
    if (parser.stack.length > MAX_STACK) return problems.add(parser.offset, 'TOO_DEEP');
  }
  yield* parser.end();
}

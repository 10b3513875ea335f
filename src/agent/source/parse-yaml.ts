import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import { MAX_DEPTH } from './document-values.ts';

/** What the parser stacks up beside the collections themselves: the document and the value in work. */
const MAX_STACK = MAX_DEPTH + 4;

/** A problem of a text as the parser tells it. */
export interface YamlProblem {
  readonly offset: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Parses a text as one YAML 1.2 document.
 *
 * The library's own `parseDocument` recurses as deep as a text is nested, and is stopped by the
 * end of the stack only. There V8 may need stack itself, for compiling a regular expression, and
 * then ends the whole process, which nobody can catch. So the depth is watched token by token.
 */
export function parseYaml(text: string): {
  readonly contents: unknown;
  readonly problems: readonly YamlProblem[];
} {
  const composer = new Composer({
    prettyErrors: false,
    stringKeys: true,
    // The library compares every key with every other; PlainConverter's map does not.
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
  });
  const problems: YamlProblem[] = [];
  let first: Document.Parsed | null = null;
  for (const document of composer.compose(tokensOf(text, problems), true, text.length)) {
    if (first !== null) {
      problems.push({ offset: document.range[0], code: 'MULTIPLE_DOCS', message: '' });
      break;
    }
    first = document;
  }
  for (const { pos, code, message } of [...(first?.errors ?? []), ...(first?.warnings ?? [])]) {
    problems.push({ offset: pos[0], code, message });
  }
  return { contents: first?.contents ?? null, problems };
}

function* tokensOf(text: string, problems: YamlProblem[]): Generator<CST.Token, void> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_STACK) {
      problems.push({ offset: parser.offset, code: 'TOO_DEEP', message: '' });
      return;
    }
  }
  yield* parser.end();
}

import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';

/** Where a link of the handbook leads: to a topic, or out of the handbook. */
export type LinkTarget =
  | { readonly kind: 'topic'; readonly topic: string; readonly anchor: string | null }
  | { readonly kind: 'outside'; readonly url: string };

export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis'; readonly children: readonly Inline[] }
  | { readonly kind: 'link'; readonly target: LinkTarget; readonly children: readonly Inline[] };

export type Block =
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | ListBlock
  | TableBlock;

export interface ListBlock {
  readonly kind: 'list';
  readonly ordered: boolean;
  readonly items: readonly (readonly Block[])[];
}

export interface TableBlock {
  readonly kind: 'table';
  readonly head: readonly Cell[];
  readonly rows: readonly TableRow[];
}
export type Cell = readonly Inline[];

export interface TableRow {
  readonly cells: readonly Cell[];
  /** The anchor of a row that defines a name, such as a variable or an error code. */
  readonly anchor: string | null;
}

/** A heading of a document and what follows it, up to the next heading of any level. */
export interface SourceSection {
  /** As the document writes it. */
  readonly source: string;
  /** 1 for the title of the document. */
  readonly level: number;
  readonly tokens: readonly Token[];
}

export interface MarkdownContext {
  /** Finds the target of a link; null if the handbook does not have it. */
  readonly resolve: (href: string) => LinkTarget | null;
  /** Gives the row that defines a name its anchor. */
  readonly anchorFor: (name: string) => string | null;
}

const NAME = /^[A-Za-z][\w.-]*$/;
const COMPOUND = /^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/;
const COMMENT = /<!--[\s\S]*?-->/g;

/** The sections of a document, in its order. Text before the first heading is dropped. */
export function sectionsOf(text: string): readonly SourceSection[] {
  const sections: { source: string; level: number; tokens: Token[] }[] = [];
  for (const token of new Lexer({ gfm: true }).lex(text)) {
    if (isHeading(token)) {
      sections.push({ source: token.text, level: token.depth, tokens: [] });
    } else if (token.type !== 'space') {
      sections.at(-1)?.tokens.push(token);
    }
  }
  return sections;
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** The anchor of a heading, by the rules of GitHub. */
export function anchorOf(source: string): string {
  return source
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

export function headingInlines(source: string): readonly Inline[] {
  return inlinesOf(Lexer.lexInline(source), { resolve: () => null });
}

/**
 * Raw HTML becomes text, except comments, which are dropped. An image becomes its description.
 *
 * @throws Error where a document uses Markdown that the handbook does not know
 */
export function blocksOf(tokens: readonly Token[], around: MarkdownContext): readonly Block[] {
  return (tokens as readonly MarkedToken[]).flatMap((token): Block[] => {
    switch (token.type) {
      case 'paragraph':
      case 'text':
        return [{ kind: 'paragraph', inlines: inlinesOf(token.tokens ?? [token], around) }];
      case 'code':
        return [{ kind: 'code', text: token.text }];
      case 'blockquote':
        return [{ kind: 'quote', blocks: blocksOf(token.tokens, around) }];
      case 'list':
        return [
          {
            kind: 'list',
            ordered: token.ordered,
            items: token.items.map((item) => blocksOf(item.tokens, around)),
          },
        ];
      case 'table': {
        const cellsOf = (row: readonly Tokens.TableCell[]): readonly Cell[] =>
          row.map((cell) => inlinesOf(cell.tokens, around));
        const rows = token.rows.map(cellsOf).map((cells) => {
          const name = definedName(cells);
          return { cells, anchor: name === null ? null : around.anchorFor(name) };
        });
        return [{ kind: 'table', head: cellsOf(token.header), rows }];
      }
      case 'html': {
        const text = token.text.replaceAll(COMMENT, '').trim();
        return text === '' ? [] : [{ kind: 'paragraph', inlines: [{ kind: 'text', text }] }];
      }
      case 'space':
      case 'hr':
      case 'def':
        return [];
      default:
        throw unknown(token);
    }
  });
}

function inlinesOf(
  tokens: readonly Token[],
  around: Pick<MarkdownContext, 'resolve'>,
): readonly Inline[] {
  return (tokens as readonly MarkedToken[]).flatMap((token): readonly Inline[] => {
    switch (token.type) {
      case 'text':
      case 'escape':
        return [{ kind: 'text', text: token.text.replaceAll('\n', ' ') }];
      case 'html':
        return [{ kind: 'text', text: token.text.replaceAll(COMMENT, '') }];
      case 'codespan':
        return [{ kind: 'code', text: token.text.replaceAll('\n', ' ') }];
      case 'br':
        return [{ kind: 'text', text: ' ' }];
      case 'strong':
        return [{ kind: 'strong', children: inlinesOf(token.tokens, around) }];
      case 'em':
        return [{ kind: 'emphasis', children: inlinesOf(token.tokens, around) }];
      case 'image':
        return [{ kind: 'text', text: token.text }];
      case 'link': {
        const children = inlinesOf(token.tokens, around);
        const target = around.resolve(token.href);
        return target === null ? children : [{ kind: 'link', target, children }];
      }
      default:
        throw unknown(token);
    }
  });
}

/** The name if the first cell is only a name: in code, or a word with inner capitals such as VedetteAgentDown. */
function definedName([first = []]: readonly Cell[]): string | null {
  const [only] = first;
  if (first.length !== 1 || (only?.kind !== 'code' && only?.kind !== 'text')) return null;
  return (only.kind === 'code' ? NAME : COMPOUND).test(only.text) ? only.text : null;
}

function unknown({ type, raw }: MarkedToken): Error {
  return new Error(`the handbook does not know Markdown of the kind ${type}: ${raw.slice(0, 100)}`);
}

export function plainText(inlines: readonly Inline[]): string {
  return inlines.map((each) => ('text' in each ? each.text : plainText(each.children))).join('');
}

import {
  Lexer,
  type MarkedToken,
  type Token,
  Tokenizer,
  type Tokens,
  type TokensList,
} from 'marked';
import { htmlEscaped } from '../../runtime/text/html-escaped.ts';

/** Headings of a text are below the two levels of its page. */
const FIRST_LEVEL = 3;
const DEEPEST_LEVEL = 6;
/** Finding emphasis and links takes quadratic time: in a longer paragraph they are not interpreted. */
const MAX_INLINE_CHARS = 4_000;
/** The most characters to read; each counts again in every quote, list and link that contains it. */
const MAX_READ_CHARS = 600_000;
const MAX_DEPTH = 20;
/** The most lines: each line of a list may be read again for each line that follows. */
const MAX_LINES = 2_000;
/** A row has as many cells as the head of its table, however short it is. */
const MAX_CELLS = 5_000;
const TABLE_DELIMITERS = /^[\s|:-]*-[\s|:-]*$/;
const LINKED_PROTOCOLS = ['http:', 'https:', 'mailto:'];
const CHARACTER_REFERENCE = /&amp;(#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,31});/gi;

/**
 * HTML from Markdown, for readers who do not trust its author: HTML in it becomes text, links are limited
 * to http, https and mailto, and an image becomes a link, because the browser of the reader would request
 * it from its host. A text that would take too long, such as thousands of nested quotes, is shown
 * unchanged.
 */
export function markdownHtml(text: string): string {
  const tokens = tokensOf(text);
  if (tokens === null) return `<div class="markdown plain" dir="auto">${htmlEscaped(text)}</div>`;
  return `<div class="markdown" dir="auto">${blocksHtml(tokens)}</div>`;
}

/** null if the text would take too long, or the lexer fails. */
function tokensOf(text: string): readonly Token[] | null {
  if (text.split('\n', MAX_LINES + 1).length > MAX_LINES) return null;
  try {
    return new BoundedLexer().lex(text);
  } catch {
    return null;
  }
}

/** A lexer whose time grows at most linearly with the length of the text. */
class BoundedLexer extends Lexer {
  #readChars = 0;
  #depth = 0;

  constructor() {
    super({ gfm: true, tokenizer: new BoundedTokenizer() });
  }

  override blockTokens(src: string, tokens?: Token[], isLastCut?: boolean): TokensList {
    // The tokens of a quote or an item have no `links`, whatever the declaration says.
    const list = tokens as TokensList | undefined;
    return this.#within(src, () => super.blockTokens(src, list, isLastCut)) as TokensList;
  }

  override inline(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= MAX_INLINE_CHARS) return super.inline(src, tokens);
    tokens.push({ type: 'text', raw: src, text: src });
    return tokens;
  }

  override inlineTokens(src: string, tokens?: Token[]): Token[] {
    return this.#within(src, () => super.inlineTokens(src, tokens));
  }

  #within<T>(src: string, read: () => T): T {
    this.#readChars += src.length;
    this.#depth += 1;
    if (this.#readChars > MAX_READ_CHARS || this.#depth > MAX_DEPTH) {
      throw new Error('the text is too complex');
    }
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

/** Treats a table that would have too many cells as a paragraph. */
class BoundedTokenizer extends Tokenizer {
  #cells = 0;

  override table(src: string): Tokens.Table | undefined {
    const [, delimiters = ''] = src.split('\n', 2);
    if (!TABLE_DELIMITERS.test(delimiters)) return undefined;
    const end = src.indexOf('\n\n');
    const rows = (end < 0 ? src : src.slice(0, end)).split('\n').length;
    const cells = rows * delimiters.split('|').length;
    if (this.#cells + cells > MAX_CELLS) return undefined;
    const table = super.table(src);
    if (table !== undefined) this.#cells += cells;
    return table;
  }
}

function blocksHtml(tokens: readonly Token[]): string {
  return (tokens as readonly MarkedToken[]).map(blockHtml).join('');
}

function blockHtml(token: MarkedToken): string {
  switch (token.type) {
    case 'heading': {
      const tag = `h${Math.min(FIRST_LEVEL + token.depth - 1, DEEPEST_LEVEL)}`;
      return `<${tag}>${inlinesHtml(token.tokens)}</${tag}>`;
    }
    case 'paragraph':
      return `<p>${inlinesHtml(token.tokens)}</p>`;
    case 'text':
      return inlinesHtml(token.tokens ?? [token]);
    case 'code':
      // Focusable, so that the keyboard can scroll it.
      return `<pre tabindex="0"><code>${htmlEscaped(token.text)}</code></pre>`;
    case 'blockquote':
      return `<blockquote>${blocksHtml(token.tokens)}</blockquote>`;
    case 'list': {
      const tag = token.ordered ? 'ol' : 'ul';
      const start = token.ordered && token.start !== 1 ? ` start="${Number(token.start)}"` : '';
      const items = token.items.map((item) => `<li>${blocksHtml(item.tokens)}</li>`);
      return `<${tag}${start}>${items.join('')}</${tag}>`;
    }
    case 'table': {
      const head = token.header.map((cell) => `<th scope="col">${inlinesHtml(cell.tokens)}</th>`);
      const rows = token.rows.map(
        (row) => `<tr>${row.map((cell) => `<td>${inlinesHtml(cell.tokens)}</td>`).join('')}</tr>`,
      );
      return `<table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
    }
    case 'html':
      return `<p>${htmlEscaped(token.text)}</p>`;
    case 'hr':
      return '<hr>';
    case 'space':
    case 'def':
      return '';
    default:
      return inlineHtml(token, false);
  }
}

/** @param isLinked the text is inside a link, which can contain no other */
function inlinesHtml(tokens: readonly Token[], isLinked = false): string {
  return (tokens as readonly MarkedToken[]).map((token) => inlineHtml(token, isLinked)).join('');
}

function inlineHtml(token: MarkedToken, isLinked: boolean): string {
  switch (token.type) {
    case 'text':
      return token.tokens === undefined
        ? textHtml(token.text)
        : inlinesHtml(token.tokens, isLinked);
    case 'strong':
    case 'em':
    case 'del':
      return `<${token.type}>${inlinesHtml(token.tokens, isLinked)}</${token.type}>`;
    case 'codespan':
      return `<code>${htmlEscaped(token.text)}</code>`;
    case 'br':
      return '<br>';
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'link': {
      const href = isLinked ? null : hrefOf(token.href);
      const text = inlinesHtml(token.tokens, isLinked || href !== null);
      return href === null ? text : linkHtml(href, text);
    }
    case 'image': {
      const href = isLinked ? null : hrefOf(token.href);
      const text = token.text === '' ? 'Image' : inlinesHtml(token.tokens, true);
      return href === null ? text : linkHtml(href, text);
    }
    default:
      return htmlEscaped('text' in token ? token.text : token.raw);
  }
}

function linkHtml(href: string, text: string): string {
  return `<a href="${htmlEscaped(href)}" rel="nofollow noopener">${text}</a>`;
}

/** Parses like browsers, so that no character that they ignore hides a protocol; null for a refused URL. */
function hrefOf(given: string): string | null {
  const text = given.replaceAll('&amp;', '&');
  if (!URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return LINKED_PROTOCOLS.includes(protocol) ? href : null;
}

/** Keeps character references, such as `&copy;`: as text they are harmless. */
function textHtml(text: string): string {
  return htmlEscaped(text).replaceAll(CHARACTER_REFERENCE, '&$1;');
}

import { htmlEscaped } from '../../runtime/text/html-escaped.ts';
import type { DocumentSection } from '../handbook.ts';
import {
  type Block,
  type Inline,
  type LinkTarget,
  plainText,
  type TableBlock,
} from '../markdown.ts';
import { operationHref } from './operations.ts';

/** HTML has six levels of headings. */
const DEEPEST = 6;
/** The text of a cell without a value in the tables of the documents. */
const NOTHING = '–';

export function sectionHtml({ anchor, heading, level, blocks }: DocumentSection): string {
  const tag = `h${Math.min(level, DEEPEST)}`;
  const title =
    heading === null
      ? ''
      : `<${tag}>${inlinesHtml(heading)} <a class="here" href="#${anchor}" aria-label="Link to this section">#</a></${tag}>`;
  return `<section id="${htmlEscaped(anchor)}">${title}${blocks.map(blockHtml).join('\n')}</section>`;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${inlinesHtml(block.inlines)}</p>`;
    case 'code':
      // Focusable, so that the keyboard can scroll it.
      return `<pre tabindex="0"><code>${htmlEscaped(block.text)}</code></pre>`;
    case 'quote':
      return `<blockquote>${block.blocks.map(blockHtml).join('')}</blockquote>`;
    case 'list': {
      const tag = block.ordered ? 'ol' : 'ul';
      return `<${tag}>${block.items.map((item) => `<li>${itemHtml(item)}</li>`).join('\n')}</${tag}>`;
    }
    case 'table':
      return tableHtml(block);
  }
}

function itemHtml(blocks: readonly Block[]): string {
  const [only] = blocks;
  if (blocks.length === 1 && only?.kind === 'paragraph') return inlinesHtml(only.inlines);
  return blocks.map(blockHtml).join('');
}

/** Narrow screens show each row as a separate block, in which every cell has the title of its column. */
function tableHtml({ head, rows }: TableBlock): string {
  const titles = head.map(plainText);
  const headHtml = head.map((cell) => `<th scope="col">${inlinesHtml(cell)}</th>`).join('');
  const rowsHtml = rows.map(({ cells, anchor }) => {
    const cellsHtml = cells.map((cell, index) => {
      const isEmpty = plainText(cell) === NOTHING;
      return `<td${isEmpty ? ' class="none"' : ''} data-title="${htmlEscaped(titles[index] ?? '')}">${breakable(inlinesHtml(cell))}</td>`;
    });
    const id = anchor === null ? '' : ` id="${htmlEscaped(anchor)}"`;
    return `<tr${id}>${cellsHtml.join('')}</tr>`;
  });
  return `<table class="columns-${head.length}"><thead><tr>${headHtml}</tr></thead><tbody>${rowsHtml.join('\n')}</tbody></table>`;
}

/** Long names may be broken after an underscore, dot or slash. */
function breakable(html: string): string {
  return html.replaceAll(/<code>[^<]*<\/code>/g, (code) =>
    code.replaceAll(/(?<=\w[_./])(?=\w)/g, '<wbr>'),
  );
}

/** @param isLinked the text is inside a link, which can contain no other */
function inlinesHtml(inlines: readonly Inline[], isLinked = false): string {
  return inlines.map((inline) => inlineHtml(inline, isLinked)).join('');
}

function inlineHtml(inline: Inline, isLinked: boolean): string {
  switch (inline.kind) {
    case 'text':
      return htmlEscaped(inline.text);
    case 'code': {
      const code = `<code>${htmlEscaped(inline.text)}</code>`;
      const href = isLinked ? null : operationHref(inline.text);
      return href === null ? code : `<a href="${htmlEscaped(href)}">${code}</a>`;
    }
    case 'strong':
      return `<strong>${inlinesHtml(inline.children, isLinked)}</strong>`;
    case 'emphasis':
      return `<em>${inlinesHtml(inline.children, isLinked)}</em>`;
    case 'link':
      return `<a href="${htmlEscaped(hrefOf(inline.target))}">${inlinesHtml(inline.children, true)}</a>`;
  }
}

export function hrefOf(target: LinkTarget): string {
  if (target.kind === 'outside') return target.url;
  return `/docs/${target.topic}${target.anchor === null ? '' : `#${target.anchor}`}`;
}
